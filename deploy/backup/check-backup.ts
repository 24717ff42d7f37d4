import path from 'node:path';
import { json } from 'node:stream/consumers';

import { readConfig } from '@pixmesh/service/config';
import { z } from 'zod';

import {
  AuditDescription,
  auditFolder,
  BASE_ARCHIVE,
  BASE_FILES,
  encryptedPath,
  listWhole,
  readBases,
  readDescription,
  type StoredBase,
  WalDescription,
  walFolder,
} from './backup-folder.ts';
import { type FileDigests, readEncrypted, verifyPlain, verifyStored } from './encrypted-file.ts';
import { BackupFolderConfig } from './take-base-backup.ts';
import { findGaps, holdsBase, missingHistories, readTimelines } from './timelines.ts';
import { verifyTar } from './verify-tar.ts';
import { isSegment } from './wal-segments.ts';

export const BackupIdentityConfig = {
  /** What opens backups: `AGE-SECRET-KEY-1…`, or the text of the file that age-keygen has written. */
  BACKUP_IDENTITY: z
    .string({ error: 'expected AGE-SECRET-KEY-1…' })
    .transform((text) => /AGE-SECRET-KEY-1[A-Z0-9]+/.exec(text)?.[0] ?? '')
    .pipe(z.string().min(1, { error: 'expected AGE-SECRET-KEY-1…' })),
} as const;

const CheckBackupConfig = z.object({
  ...BackupFolderConfig,
  BACKUP_IDENTITY: BackupIdentityConfig.BACKUP_IDENTITY.optional(),
});

export type BackupReport = {
  /** One line each; empty: everything can be restored. */
  problems: string[];
  /** Of the newest base backup, and of the newest segment; null where there is none. */
  newestBase: string | null;
  newestWal: string | null;
  bases: number;
  segments: number;
  /** False: only what needs no identity was verified. */
  isDecrypted: boolean;
};

/**
 * Reads every file of the backups and restores none: each is as it was written; with the identity each opens and holds
 * what was put in, file by file of the server. From each base backup on no segment of the WAL is missing.
 */
export async function checkBackup(env: NodeJS.ProcessEnv = process.env): Promise<BackupReport> {
  const { BACKUP_DIR: home, BACKUP_IDENTITY: identity } = readConfig(CheckBackupConfig, env);
  const { bases, broken } = readBases(home);
  const segments = listWhole(walFolder(home));
  const problems = broken.map(({ message }) => message);
  if (bases.length === 0) problems.push('no base backup');
  const check = async (what: string, work: () => Promise<void>) => {
    await work().catch((error: unknown) => problems.push(`${what}: ${(error as Error).message}`));
  };
  for (const base of bases) {
    await check(base.folder, () => checkBase(base, identity));
  }
  await check(walFolder(home), async () => {
    problems.push(...(await findMissing({ home, bases, names: segments, identity })));
  });
  const verify = (folder: string, name: string, digests: FileDigests) =>
    verifyFile(encryptedPath(folder, name), digests, identity);
  let newestWal: string | null = null;
  for (const name of segments) {
    const folder = walFolder(home);
    await check(name, async () => {
      const description = readDescription(folder, name, WalDescription);
      if (isSegment(name)) newestWal = description.written_at;
      await verify(folder, name, description);
    });
  }
  for (const name of listWhole(auditFolder(home))) {
    const folder = auditFolder(home);
    await check(name, async () =>
      verify(folder, name, readDescription(folder, name, AuditDescription)),
    );
  }
  return {
    problems,
    newestBase: bases.at(-1)?.manifest.ended_at ?? null,
    newestWal,
    bases: bases.length,
    segments: segments.length,
    isDecrypted: identity !== undefined,
  };
}

async function checkBase({ folder, manifest }: StoredBase, identity?: string): Promise<void> {
  for (const [name, digests] of Object.entries(manifest.files)) {
    await verifyFile(path.join(folder, name), digests, identity);
  }
  if (identity === undefined) return;
  const open = (name: string) => {
    const digests = manifest.files[name];
    if (digests === undefined) throw new Error(`${name} is missing in the manifest`);
    return readEncrypted(path.join(folder, name), { identity, digests });
  };
  await verifyTar(await open(BASE_ARCHIVE), await json(await open(BASE_FILES)));
}

async function verifyFile(file: string, digests: FileDigests, identity?: string): Promise<void> {
  await verifyStored(file, digests);
  if (identity !== undefined) await verifyPlain(file, identity, digests);
}

/** What is not archived and would end a restore from one of these base backups, on each timeline that it leads to. */
async function findMissing(input: {
  home: string;
  bases: readonly StoredBase[];
  names: readonly string[];
  identity: string | undefined;
}): Promise<string[]> {
  const { home, bases, names, identity } = input;
  const segments = names.filter(isSegment);
  const problems = missingHistories(names).map((name) => `${name} is not archived`);
  for (const { folder, manifest } of bases) {
    if (!segments.includes(manifest.last_segment)) {
      problems.push(`${folder}: its last segment is not archived`);
    }
  }
  for (const timeline of await readTimelines(home, identity)) {
    for (const { folder, manifest } of bases) {
      if (!holdsBase(timeline, manifest)) continue;
      const gaps = findGaps(timeline, { segments, first: manifest.first_segment });
      problems.push(
        ...gaps.map((name) => `${folder}: segment ${name} of the WAL behind it is missing`),
      );
    }
  }
  return [...new Set(problems)];
}
