import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { descriptionPath, walFolder } from './backup-folder.ts';
import { findNewestTimeline, findTimelineAt, segmentOn, type Timeline } from './timelines.ts';
import { historyOf, segmentName, segmentOf } from './wal-segments.ts';

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

describe('the timeline of the end of the archive', () => {
  const written = {
    [segmentName(1, 4)]: '2026-11-20T11:00:00Z',
    [historyOf(2)]: '2026-11-20T12:00:00Z',
    [segmentName(2, 5)]: '2026-11-20T12:10:00Z',
  };

  test.each([
    { of: 'that a restore began', others: {}, expected: second },
    {
      of: 'of the server that works, not of a trial beside it',
      others: { [segmentName(1, 5)]: '2026-11-20T12:20:00Z' },
      expected: first,
    },
    {
      of: 'that has begun and archived no segment yet',
      others: { [historyOf(2)]: '2026-11-20T12:30:00Z' },
      expected: second,
    },
  ])('is the one $of', ({ others, expected }) => {
    const home = mkdtempSync(path.join(tmpdir(), 'pixmesh-timelines-'));
    try {
      store(home, { ...written, ...others });
      expect(findNewestTimeline(timelines, home)).toBe(expected);
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  test('is none without an archive', () => {
    expect(findNewestTimeline([], path.join(tmpdir(), 'pixmesh-no-such'))).toBeUndefined();
  });
});

/** Descriptions of files that were last written to at these times. */
function store(home: string, written: Readonly<Record<string, string>>): void {
  mkdirSync(walFolder(home));
  const digests = { bytes: 1, sha256: '', plain_bytes: 1, plain_sha256: '' };
  for (const [name, written_at] of Object.entries(written)) {
    const description = { ...digests, written_at, archived_at: written_at };
    writeFileSync(descriptionPath(walFolder(home), name), JSON.stringify(description));
  }
}
