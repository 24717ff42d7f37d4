import { ConfigError } from '@pixmesh/service/config';

import {
  listWhole,
  readDescription,
  type StoredBase,
  WalDescription,
  walFolder,
} from './backup-folder.ts';
import { findGaps, segmentOn, type Timeline } from './timelines.ts';
import { isSegment, segmentNumber, timelineOf } from './wal-segments.ts';

/** A moment, or the end of the archive. */
export type Target = Date | 'latest';

/** A segment that was written to last at the moment itself may end before a commit that follows it. */
const SEGMENTS_BEHIND = 2;

/**
 * Files of the archive that bring a base backup to its target: segments on the way, and the histories of timelines.
 * With the moment that they reach: of the end of the archive, when its last segment was written; no commit in it is
 * later.
 * @throws ConfigError where a segment on the way is missing, or the archive ends before the moment
 */
export function findNeededWal(
  target: Target,
  { home, base, timeline }: { home: string; base: StoredBase; timeline: Timeline },
): { names: string[]; at: Date } {
  const archived = listWhole(walFolder(home));
  const { first_segment } = base.manifest;
  const isOnWay = (name: string) =>
    segmentNumber(name) >= segmentNumber(first_segment) &&
    segmentOn(timeline, segmentNumber(name)) === name;
  const segments = archived.filter((name) => isSegment(name) && isOnWay(name));
  const end = target === 'latest' ? endOf(segments, timeline) : endAt(target, { home, segments });
  const gap = findGaps(timeline, { segments, first: first_segment }).find(
    (name) => segmentNumber(name) <= segmentNumber(end),
  );
  if (gap !== undefined) throw new ConfigError(`expected ${gap} in the archive`);
  const last = segmentNumber(end) + SEGMENTS_BEHIND;
  return {
    names: archived.filter(
      (name) => !isSegment(name) || (isOnWay(name) && segmentNumber(name) <= last),
    ),
    at: target === 'latest' ? writtenAt(home, end) : target,
  };
}

/** Of a timeline without a segment of its own, the end of the one before it is missing too. */
function endOf(segments: readonly string[], { id }: Timeline): string {
  const end = inOrder(segments).at(-1);
  if (end === undefined || timelineOf(end) !== id) {
    throw new ConfigError(`expected a segment of timeline ${id} in the archive`);
  }
  return end;
}

/** The first segment that was written to after the moment. */
function endAt(
  at: Date,
  { home, segments }: { home: string; segments: readonly string[] },
): string {
  const ordered = inOrder(segments);
  const end = ordered.find((name) => +writtenAt(home, name) > +at);
  if (end !== undefined) return end;
  const newest = ordered.at(-1);
  const text = newest === undefined ? 'none' : writtenAt(home, newest).toISOString();
  throw new ConfigError(`expected --at before the end of the archive (${text})`);
}

function inOrder(segments: readonly string[]): string[] {
  return segments.toSorted((a, b) => segmentNumber(a) - segmentNumber(b));
}

function writtenAt(home: string, name: string): Date {
  return new Date(readDescription(walFolder(home), name, WalDescription).written_at);
}
