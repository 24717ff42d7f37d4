import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import {
  BASE_ARCHIVE,
  baseFolder,
  encryptedPath,
  manifestPath,
  walFolder,
} from './backup-folder.ts';
import { markRunning, removeUnfinished } from './remove-unfinished.ts';
import { segmentName } from './wal-segments.ts';

const HOUR_MS = 3_600_000;
const now = new Date('2026-11-20T00:00:00Z');

let home: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'pixmesh-unfinished-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('what a killed base backup left is deleted after a day, and never a whole or a running one', () => {
  const killed = storeBase('killed', 25);
  const running = storeBase('running', 23);
  const whole = storeBase('whole', 25);
  writeFileSync(manifestPath(whole), '{}');
  age(whole, 25);
  expect(removeUnfinished(home, now)).toEqual([killed]);
  expect([killed, running, whole].map((folder) => existsSync(folder))).toEqual([false, true, true]);
});

test('a base backup that runs stays, however long it waits for the server', () => {
  vi.useFakeTimers({ now, toFake: ['Date', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = storeBase('waiting', 0);
  using _running = markRunning(folder);
  vi.advanceTimersByTime(48 * HOUR_MS);
  expect(removeUnfinished(home, new Date())).toEqual([]);
});

test('drafts of the WAL are deleted after a day, and segments never', () => {
  mkdirSync(walFolder(home));
  const segment = storeFile(encryptedPath(walFolder(home), segmentName(1, 1)), 25);
  const killed = storeFile(`${segment}.17.draft`, 25);
  const running = storeFile(`${segment}.18.draft`, 23);
  expect(removeUnfinished(home, now)).toEqual([killed]);
  expect([segment, killed, running].map((file) => existsSync(file))).toEqual([true, false, true]);
});

test('a folder without backups is left as it is', () => {
  expect(removeUnfinished(home, now)).toEqual([]);
});

/** As a base backup that has stored something and no manifest. */
function storeBase(name: string, hours: number): string {
  const folder = path.join(baseFolder(home), name);
  mkdirSync(folder, { recursive: true });
  storeFile(path.join(folder, `${BASE_ARCHIVE}.17.draft`), hours);
  age(folder, hours);
  return folder;
}

function storeFile(file: string, hours: number): string {
  writeFileSync(file, 'part');
  age(file, hours);
  return file;
}

function age(place: string, hours: number): void {
  const at = new Date(now.getTime() - hours * HOUR_MS);
  utimesSync(place, at, at);
}
