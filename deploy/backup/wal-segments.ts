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

/** The segment that holds a place such as `0/3000028`. A place on a border belongs to the one behind it. */
export function segmentOf(lsn: string, timeline: number): string {
  const [high = '0', low = '0'] = lsn.split('/');
  const position = (BigInt(`0x${high}`) << LSN_HALF_BITS) + BigInt(`0x${low}`);
  const number = Number(position / BigInt(SEGMENT_BYTES));
  return [timeline, Math.floor(number / SEGMENTS_PER_FILE), number % SEGMENTS_PER_FILE]
    .map((part) => part.toString(HEX).toUpperCase().padStart(PART_LENGTH, '0'))
    .join('');
}

/** The place of a segment among all of them, whatever its timeline. */
export function segmentNumber(name: string): number {
  const high = Number.parseInt(name.slice(PART_LENGTH, 2 * PART_LENGTH), HEX);
  return high * SEGMENTS_PER_FILE + Number.parseInt(name.slice(2 * PART_LENGTH), HEX);
}

/** Numbers from the first to the last of these segments that none of them has. */
export function findGaps(segments: readonly string[], first: string): number[] {
  const present = new Set(segments.map(segmentNumber));
  const last = Math.max(segmentNumber(first), ...present);
  const gaps: number[] = [];
  for (let number = segmentNumber(first); number <= last; number += 1) {
    if (!present.has(number)) gaps.push(number);
  }
  return gaps;
}
