import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  checkDigests,
  checkedFolderName,
  hashFiles,
  type PinnedFiles,
} from './artifact-digests.ts';
import { KAFKA, REDIS, REGISTRY } from './artifacts.ts';

let folder: string;
let pinned: PinnedFiles;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pixmesh-digests-'));
  writeFileSync(join(folder, 'broker.jar'), 'broker');
  writeFileSync(join(folder, 'codec.jar'), 'codec');
  pinned = pin(await hashFiles(folder));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('a download is taken as it was pinned', async () => {
  expect(Object.keys(pinned)).toEqual(['broker.jar', 'codec.jar']);
  await expect(checkDigests(folder, pinned)).resolves.toBeUndefined();
});

test.each<[string, () => void]>([
  ['has one byte changed', () => writeFileSync(join(folder, 'codec.jar'), 'codeC')],
  ['is not there', () => rmSync(join(folder, 'codec.jar'))],
  ['is a link to what lies elsewhere', () => linkElsewhere()],
])('a download is refused of which a file %s', async (_, tamper) => {
  tamper();
  await expect(checkDigests(folder, pinned)).rejects.toThrow(/^download refused, codec\.jar: /);
});

test('a download is refused that brings more than was pinned', async () => {
  writeFileSync(join(folder, 'added.jar'), 'added');
  await expect(checkDigests(folder, pinned)).rejects.toThrow(/^download refused, added\.jar: /);
});

test('a download that was checked against other digests is not taken', () => {
  const before = checkedFolderName({ folder: 'kafka', files: pinned });
  const after = checkedFolderName({
    folder: 'kafka',
    files: { ...pinned, ...pin({ 'codec.jar': '00' }) },
  });
  expect(after).not.toBe(before);
});

test('every file of every download is pinned', () => {
  for (const { files } of [KAFKA, REDIS, REGISTRY]) {
    for (const { purl, sha256 } of Object.values(files)) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(purl).toMatch(/^pkg:maven\/[\w.-]+\/[\w.-]+@[\w.-]+([?#]\S+)?$/);
    }
  }
  // The broker and all that it depends on.
  expect(Object.keys(KAFKA.files).length).toBeGreaterThan(40);
  expect(Object.keys(REGISTRY.files)).toEqual([REGISTRY.archive]);
});

function pin(digests: Record<string, string>): PinnedFiles {
  const files = Object.entries(digests).map(([name, sha256]) => [
    name,
    { purl: 'pkg:a/b', sha256 },
  ]);
  return Object.fromEntries(files) as PinnedFiles;
}

function linkElsewhere(): void {
  rmSync(join(folder, 'codec.jar'));
  symlinkSync('broker.jar', join(folder, 'codec.jar'));
}
