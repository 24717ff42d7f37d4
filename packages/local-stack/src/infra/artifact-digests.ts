import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StartupFailure } from '../startup-failure.ts';
import type { Artifact } from './artifacts.ts';

/** The files of a download by name: SHA-256 as hex, and where each comes from as a package URL. */
export type PinnedFiles = Readonly<
  Record<string, { readonly purl: string; readonly sha256: string }>
>;

const FOLDER_DIGEST_LENGTH = 12;

/** Names what was checked: a folder that was checked against other digests, or never, is not taken. */
export function checkedFolderName(artifact: Pick<Artifact, 'folder' | 'files'>): string {
  const digest = createHash('sha256').update(JSON.stringify(artifact.files)).digest('hex');
  return `${artifact.folder}-${digest.slice(0, FOLDER_DIGEST_LENGTH)}`;
}

/**
 * Maven compares a download with a checksum from the same server only, so whoever answers for that server decides
 * what runs here. Hence every file of a download has to be one that the repository names, and none may lack.
 */
export async function checkDigests(folder: string, pinned: PinnedFiles): Promise<void> {
  const found = await hashFiles(folder);
  for (const name of new Set([...Object.keys(pinned), ...Object.keys(found)])) {
    const expected = pinned[name]?.sha256;
    if (found[name] === expected) continue;
    throw new StartupFailure(
      `download refused, ${name}: SHA-256 is ${found[name] ?? 'absent'}, artifact-digests.json has ${expected ?? 'none'}; ` +
        `it was removed and did not run; delete its copy below ~/.m2/repository before the next start`,
    );
  }
}

/** SHA-256 of the files of a folder by name, in the order of their names. */
export async function hashFiles(folder: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(folder, entry.name);
    digests[entry.name] = entry.isFile() ? await hashFile(file) : 'not that of a file';
  }
  return digests;
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
