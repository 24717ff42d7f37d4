import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { descriptionPath, type StoredBase, walFolder } from './backup-folder.ts';
import { findNeededWal } from './needed-wal.ts';
import type { Timeline } from './timelines.ts';
import { segmentName } from './wal-segments.ts';

const BORDER = 0x5000060n;
/** It leaves timeline 1 in the middle of segment 5. */
const timeline: Timeline = {
  id: 2,
  begunAt: new Date('2026-11-20T12:00:00Z'),
  parts: [
    { timeline: 1, begin: 0n, end: BORDER },
    { timeline: 2, begin: BORDER, end: null },
  ],
};
const base: StoredBase = {
  folder: 'base',
  manifest: {
    format: 'pixmesh-base-backup-1',
    started_at: '2026-11-20T00:00:00Z',
    ended_at: '2026-11-20T00:00:00Z',
    server_version: '18.0',
    system_identifier: '1',
    timeline: 1,
    start_lsn: '0/3000028',
    stop_lsn: '0/3000120',
    first_segment: segmentName(1, 3),
    last_segment: segmentName(1, 3),
    files: {},
  },
};

let home: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'pixmesh-wal-'));
  mkdirSync(walFolder(home));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('the end of the archive takes each segment on the way once, and says when the last one was written', () => {
  store([1, 3], [1, 4], [1, 5], [1, 6], [2, 5], [2, 6]);
  expect(findNeededWal('latest', { home, base, timeline })).toEqual({
    names: [segmentName(1, 3), segmentName(1, 4), segmentName(2, 5), segmentName(2, 6)],
    at: writtenAt(2, 6),
  });
});

test('the end of the archive is refused while the newest timeline has archived no segment', () => {
  store([1, 3], [1, 4], [1, 5], [1, 6]);
  expect(() => findNeededWal('latest', { home, base, timeline })).toThrow(
    'expected a segment of timeline 2',
  );
});

test('a gap behind the moment hinders no restore to it', () => {
  store([1, 3], [1, 4], [2, 6]);
  const at = new Date(+writtenAt(1, 4) - 1);
  const { names } = findNeededWal(at, { home, base, timeline });
  expect(names).toContain(segmentName(1, 4));
  const behind = new Date(+writtenAt(1, 4) + 1);
  expect(() => findNeededWal(behind, { home, base, timeline })).toThrow(
    `expected ${segmentName(2, 5)} in the archive`,
  );
});

/** Those of a timeline are written one minute after another, and those of the next one after noon. */
function writtenAt(ofTimeline: number, number: number): Date {
  return new Date(Date.UTC(2026, 10, 20, 10 + ofTimeline, number));
}

function store(...segments: [timeline: number, number: number][]): void {
  for (const [ofTimeline, number] of segments) {
    const name = segmentName(ofTimeline, number);
    const written_at = writtenAt(ofTimeline, number).toISOString();
    const digests = { bytes: 1, sha256: '', plain_bytes: 1, plain_sha256: '' };
    const description = { ...digests, written_at, archived_at: written_at };
    writeFileSync(descriptionPath(walFolder(home), name), JSON.stringify(description));
  }
}
