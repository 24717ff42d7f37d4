import { describe, expect, test } from 'vitest';

import { findTimelineAt, segmentOn, type Timeline } from './timelines.ts';
import { segmentName, segmentOf } from './wal-segments.ts';

const SEGMENT_BYTES = 0x1000000n;
/** Timeline 2 leaves timeline 1 in the middle of segment 5. */
const BORDER = 5n * SEGMENT_BYTES + 0x60n;
const promotedAt = new Date('2026-11-20T12:00:00Z');
const first: Timeline = {
  id: 1,
  begunAt: null,
  parts: [{ timeline: 1, begin: 0n, end: null }],
};
const second: Timeline = {
  id: 2,
  begunAt: promotedAt,
  parts: [
    { timeline: 1, begin: 0n, end: BORDER },
    { timeline: 2, begin: BORDER, end: null },
  ],
};
const timelines = [first, second];

test('the segment in which a timeline begins is its own, and holds the end of the one before', () => {
  expect([4, 5, 6].map((number) => segmentOn(second, number))).toEqual([
    segmentName(1, 4),
    segmentName(2, 5),
    segmentName(2, 6),
  ]);
  expect(segmentName(2, 5)).toBe(segmentOf('0/5000060', 2));
});

describe('the timeline of a moment', () => {
  const before = new Date(+promotedAt - 1000);
  const after = new Date(+promotedAt + 1000);

  test('is the newest that had begun', () => {
    const segments = [segmentName(1, 4), segmentName(1, 5), segmentName(2, 5)];
    expect(findTimelineAt(after, { timelines, segments })).toBe(second);
    expect(findTimelineAt(before, { timelines, segments })).toBe(first);
  });

  test('is the next one where that has all of it, as after a failover', () => {
    const segments = [segmentName(1, 4), segmentName(2, 5)];
    expect(findTimelineAt(before, { timelines, segments })).toBe(second);
  });

  test('is none before the archive begins', () => {
    const segments = [segmentName(2, 5)];
    expect(findTimelineAt(before, { timelines: [second], segments })).toBeUndefined();
  });
});
