import { text } from 'node:stream/consumers';

import {
  type BaseManifest,
  encryptedPath,
  listWhole,
  readDescription,
  WalDescription,
  walFolder,
} from './backup-folder.ts';
import { readEncrypted } from './encrypted-file.ts';
import {
  historyOf,
  positionOf,
  segmentName,
  segmentNumber,
  segmentNumberAt,
  timelineOf,
} from './wal-segments.ts';

/** A line of a history: the timeline, and the place where the next one left it. */
const HISTORY_LINE = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/gim;

/** What a server wrote between two promotions. A restore begins one, from some place of another. */
export type Timeline = {
  id: number;
  /** When the server was promoted to it; null where its history is not archived. */
  begunAt: Date | null;
  /**
   * How its WAL is read: that of the timelines it comes from, oldest first, each up to a place, and its own at the end.
   */
  parts: readonly Part[];
};

type Part = { timeline: number; begin: bigint; end: bigint | null };

/** Timelines of the archive, oldest first. Without the identity, none is known to come from another. */
export async function readTimelines(home: string, identity?: string): Promise<Timeline[]> {
  const folder = walFolder(home);
  const names = listWhole(folder);
  const timelines: Timeline[] = [];
  for (const id of timelinesOf(names)) {
    const name = historyOf(id);
    const description = names.includes(name) && readDescription(folder, name, WalDescription);
    const history =
      description && identity !== undefined
        ? await text(
            await readEncrypted(encryptedPath(folder, name), { identity, digests: description }),
          )
        : '';
    const begunAt = description ? new Date(description.written_at) : null;
    timelines.push({ id, begunAt, parts: partsOf(id, history) });
  }
  return timelines;
}

/** Histories that are missing among these names: where they began is unknown. The oldest timeline needs none. */
export function missingHistories(names: readonly string[]): string[] {
  return timelinesOf(names)
    .slice(1)
    .map(historyOf)
    .filter((name) => !names.includes(name));
}

/**
 * The timeline that the server was on at a moment: the newest that had begun. What is on a timeline that a restore left
 * is found there. One that leaves out no archived segment of it, as after a failover, is read instead: it alone has the
 * end.
 */
export function findTimelineAt(
  at: Date,
  { timelines, segments }: { timelines: readonly Timeline[]; segments: readonly string[] },
): Timeline | undefined {
  const found = timelines.findLast(({ begunAt }) => begunAt === null || +begunAt <= +at);
  if (found === undefined) return undefined;
  const own = segments.filter((name) => timelineOf(name) === found.id);
  return timelines.findLast(
    (one) =>
      one.parts.some(({ timeline }) => timeline === found.id) &&
      own.every((name) => segmentOn(one, segmentNumber(name)) === name),
  );
}

/**
 * The timeline that was written to last: one that a trial began, and that nobody continued, has a higher number than
 * that of the server which works.
 */
export function findNewestTimeline(
  timelines: readonly Timeline[],
  home: string,
): Timeline | undefined {
  const folder = walFolder(home);
  const writtenAt = (name: string) =>
    Date.parse(readDescription(folder, name, WalDescription).written_at);
  const newest = listWhole(folder)
    .map((name) => ({ id: timelineOf(name), at: writtenAt(name) }))
    .reduce((one, other) => (other.at < one.at ? one : other), { id: 0, at: 0 });
  return timelines.find(({ id }) => id === newest.id);
}

/** True where a restore from this base backup can reach the end of the timeline. */
export function holdsBase({ parts }: Timeline, { timeline, stop_lsn }: BaseManifest): boolean {
  const part = parts.find((one) => one.timeline === timeline);
  return part !== undefined && (part.end === null || positionOf(stop_lsn) <= part.end);
}

/**
 * The segment of a number on the way to the end of the timeline. The one that holds a border is the later timeline's.
 */
export function segmentOn({ id, parts }: Timeline, number: number): string {
  const part = parts.findLast(({ begin }) => segmentNumberAt(begin) <= number);
  return segmentName(part?.timeline ?? id, number);
}

/** Segments that are missing on the way from the first to the last that is there. */
export function findGaps(
  timeline: Timeline,
  { segments, first }: { segments: readonly string[]; first: string },
): string[] {
  const numbers = segments
    .filter((name) => segmentOn(timeline, segmentNumber(name)) === name)
    .map(segmentNumber);
  const present = new Set(numbers);
  const last = numbers.reduce((a, b) => Math.max(a, b), 0);
  const gaps: string[] = [];
  for (let number = segmentNumber(first); number <= last; number += 1) {
    if (!present.has(number)) gaps.push(segmentOn(timeline, number));
  }
  return gaps;
}

function timelinesOf(names: readonly string[]): number[] {
  return [...new Set(names.map(timelineOf))].toSorted((a, b) => a - b);
}

function partsOf(id: number, history: string): Part[] {
  const parts: Part[] = [];
  let begin = 0n;
  for (const [, timeline, place = ''] of history.matchAll(HISTORY_LINE)) {
    const end = positionOf(place);
    parts.push({ timeline: Number(timeline), begin, end });
    begin = end;
  }
  return [...parts, { timeline: id, begin, end: null }];
}
