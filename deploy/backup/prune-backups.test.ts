import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  baseFolder,
  descriptionPath,
  listBases,
  listWhole,
  manifestPath,
  walFolder,
} from './backup-folder.ts';
import { pruneBackups } from './prune-backups.ts';
import { segmentName } from './wal-segments.ts';

const KEEP_DAYS = 7;
const now = new Date('2026-11-20T00:00:00Z');

let home: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'pixmesh-prune-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('base backups are deleted by their age with the WAL that only they need, and the last two stay', () => {
  storeBases([1, 10, 1], [1, 20, 2], [1, 30, 3]);
  storeSegments(1, 10, 35);
  pruneBackups(home, { keepDays: KEEP_DAYS, now });
  expect(days()).toEqual([2, 3]);
  expect(segments()).toEqual(range(1, 20, 35));
});

test('WAL that base backups of a newer timeline need stays while base backups of an older one do', () => {
  storeBases([1, 10, 1], [1, 50, 14], [2, 30, 15], [2, 40, 16]);
  storeSegments(1, 10, 60);
  storeSegments(2, 20, 45);
  pruneBackups(home, { keepDays: KEEP_DAYS, now });
  expect(days()).toEqual([14, 15, 16]);
  expect(segments()).toEqual([...range(1, 50, 60), ...range(2, 30, 45)]);
});

test('a timeline without base backups before the oldest of those is deleted', () => {
  storeBases([1, 10, 1], [2, 30, 15], [2, 40, 16]);
  storeSegments(1, 10, 60);
  storeSegments(2, 20, 45);
  pruneBackups(home, { keepDays: KEEP_DAYS, now });
  expect(segments()).toEqual(range(2, 30, 45));
});

test('while the newest timeline has one base backup, none of an older timeline is deleted', () => {
  storeBases([1, 10, 1], [1, 50, 2], [2, 30, 16]);
  storeSegments(1, 10, 60);
  storeSegments(2, 20, 45);
  expect(pruneBackups(home, { keepDays: KEEP_DAYS, now })).toEqual([]);
});

/** Each with its timeline, the number of its first segment and its day of the month. */
function storeBases(...bases: [timeline: number, first: number, day: number][]): void {
  for (const [timeline, first, day] of bases) {
    const time = `2026-11-${String(day).padStart(2, '0')}T00:00:00.000Z`;
    const folder = path.join(baseFolder(home), time.replaceAll(':', ''));
    mkdirSync(folder, { recursive: true });
    const manifest = {
      format: 'pixmesh-base-backup-1',
      started_at: time,
      ended_at: time,
      server_version: '18.0',
      system_identifier: '1',
      timeline,
      start_lsn: '0/0',
      stop_lsn: '0/0',
      first_segment: segmentName(timeline, first),
      last_segment: segmentName(timeline, first),
      files: {},
    };
    writeFileSync(manifestPath(folder), JSON.stringify(manifest));
  }
}

function storeSegments(timeline: number, first: number, last: number): void {
  mkdirSync(walFolder(home), { recursive: true });
  for (const name of range(timeline, first, last)) {
    writeFileSync(descriptionPath(walFolder(home), name), '{}');
  }
}

function range(timeline: number, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) =>
    segmentName(timeline, first + index),
  );
}

function days(): number[] {
  return listBases(home).map(({ manifest }) => new Date(manifest.ended_at).getUTCDate());
}

function segments(): string[] {
  return listWhole(walFolder(home));
}
