import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { z } from 'zod';

/**
 * What stands where in the folder of backups:
 *
 * - `base/<time>/`: a base backup, whole once its `manifest.json` is there
 * - `wal/<segment>.zst.age` and `.json`: the archive, whole once the `.json` is there
 * - `audit/<time>.zst.age` and `.json`: what operators have done, with the state of what they have done it to
 */
export const BASE_ARCHIVE = 'base.tar.zst.age';
export const BASE_FILES = 'backup_manifest.zst.age';
const MANIFEST = 'manifest.json';
const ENCRYPTED = '.zst.age';
const DESCRIPTION = '.json';
/** What is written under such a name is not whole. */
export const DRAFT = '.draft';

const Digests = z.object({
  bytes: z.int(),
  sha256: z.string(),
  plain_bytes: z.int(),
  plain_sha256: z.string(),
});

/** A base backup. Times by the clock of the machine that took it. */
export const BaseManifest = z.object({
  format: z.literal('pixmesh-base-backup-1'),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  server_version: z.string(),
  system_identifier: z.string(),
  timeline: z.int(),
  start_lsn: z.string(),
  stop_lsn: z.string(),
  /** The archive is needed from here on, and a restore reaches no moment before the end of the second. */
  first_segment: z.string(),
  last_segment: z.string(),
  files: z.record(z.string(), Digests),
});
export type BaseManifest = z.output<typeof BaseManifest>;

/** An archived segment. */
export const WalDescription = Digests.extend({
  /** When the server wrote to it last. */
  written_at: z.iso.datetime(),
  archived_at: z.iso.datetime(),
});
export type WalDescription = z.output<typeof WalDescription>;

export const AuditDescription = Digests.extend({
  exported_at: z.iso.datetime(),
  /** The last of its entries; exports of the version before lack it. */
  newest_entry: z.uuid().optional(),
});

export type StoredBase = { folder: string; manifest: BaseManifest };

export const baseFolder = (home: string): string => path.join(home, 'base');
export const walFolder = (home: string): string => path.join(home, 'wal');
export const auditFolder = (home: string): string => path.join(home, 'audit');
export const manifestPath = (folder: string): string => path.join(folder, MANIFEST);
export const encryptedPath = (folder: string, name: string): string =>
  path.join(folder, name + ENCRYPTED);
export const descriptionPath = (folder: string, name: string): string =>
  path.join(folder, name + DESCRIPTION);

/**
 * Base backups that are whole, oldest first.
 * @throws Error that names a manifest which cannot be read
 */
export function listBases(home: string): StoredBase[] {
  const { bases, broken } = readBases(home);
  const [first] = broken;
  if (first !== undefined) throw first;
  return bases;
}

/** Base backups that are whole, oldest first, and why others cannot be used. */
export function readBases(home: string): { bases: StoredBase[]; broken: Error[] } {
  const bases: StoredBase[] = [];
  const broken: Error[] = [];
  for (const name of list(baseFolder(home))) {
    const folder = path.join(baseFolder(home), name);
    if (!existsSync(manifestPath(folder))) continue;
    try {
      bases.push({ folder, manifest: read(manifestPath(folder), BaseManifest) });
    } catch (error) {
      broken.push(error as Error);
    }
  }
  return { bases, broken };
}

/** Folders of base backups without a manifest: under way, or left by one that was killed. */
export function listUnfinishedBases(home: string): string[] {
  return list(baseFolder(home))
    .map((name) => path.join(baseFolder(home), name))
    .filter((folder) => !existsSync(manifestPath(folder)));
}

/** Files of the archive that are being written, or were when their writer was killed. */
export function listWalDrafts(home: string): string[] {
  return list(walFolder(home))
    .filter((name) => name.endsWith(DRAFT))
    .map((name) => path.join(walFolder(home), name));
}

/** Names of what is whole in a folder of encrypted files, in order. */
export function listWhole(folder: string): string[] {
  return list(folder)
    .filter((name) => name.endsWith(DESCRIPTION))
    .map((name) => name.slice(0, -DESCRIPTION.length));
}

/** @throws Error that names the file, where it cannot be read or is not in this form */
export function readDescription<Schema extends z.ZodType>(
  folder: string,
  name: string,
  schema: Schema,
): z.output<Schema> {
  return read(descriptionPath(folder, name), schema);
}

function read<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`${file}: not in the form of this file`, { cause: error });
  }
}

function list(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
