const LSN_HALF_BITS = 32n;
const HEX = 16;
const PART_LENGTH = 8;
/** The usual one; a cluster can be made with another. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;
const SEGMENTS_PER_FILE = 256;

const SEGMENT = /^[0-9A-F]{24}$/;
/** Segments, the part of one that a dying timeline left, histories of timelines and labels of base backups. */
const ARCHIVED = /^(?:[0-9A-F]{24}(?:\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$/;

/** True for what Postgres gives to `archive_command`. */
export function isArchiveName(name: string): boolean {
  return ARCHIVED.test(name);
}

export function isSegment(name: string): boolean {
  return SEGMENT.test(name);
}

/** A place such as `0/3000028`, in bytes. */
export function positionOf(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/');
  return (BigInt(`0x${high}`) << LSN_HALF_BITS) + BigInt(`0x${low}`);
}

/** A place on a border belongs to the segment behind it. */
export function segmentNumberAt(position: bigint): number {
  return Number(position / BigInt(SEGMENT_BYTES));
}

/** The segment that holds a place such as `0/3000028`. */
export function segmentOf(lsn: string, timeline: number): string {
  return segmentName(timeline, segmentNumberAt(positionOf(lsn)));
}

export function segmentName(timeline: number, number: number): string {
  return [timeline, Math.floor(number / SEGMENTS_PER_FILE), number % SEGMENTS_PER_FILE]
    .map((part) => part.toString(HEX).toUpperCase().padStart(PART_LENGTH, '0'))
    .join('');
}

/** Of anything in the archive: each name begins with it. */
export function timelineOf(name: string): number {
  return Number.parseInt(name.slice(0, PART_LENGTH), HEX);
}

/** Of the history by which a timeline begins. */
export function historyOf(timeline: number): string {
  return `${segmentName(timeline, 0).slice(0, PART_LENGTH)}.history`;
}

/** The place of a segment among all of them, whatever its timeline. */
export function segmentNumber(name: string): number {
  const high = Number.parseInt(name.slice(PART_LENGTH, 2 * PART_LENGTH), HEX);
  return high * SEGMENTS_PER_FILE + Number.parseInt(name.slice(2 * PART_LENGTH), HEX);
}
