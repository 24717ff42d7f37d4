import { existsSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

import { ConfigError, readConfig } from '@pixmesh/service/config';
import { extract } from 'tar-stream';
import { z } from 'zod';

import {
  BASE_ARCHIVE,
  encryptedPath,
  listWhole,
  readBases,
  readDescription,
  type StoredBase,
  WalDescription,
  walFolder,
} from './backup-folder.ts';
import { BackupIdentityConfig } from './check-backup.ts';
import { readEncrypted } from './encrypted-file.ts';
import { BackupFolderConfig } from './take-base-backup.ts';
import { findNeededWal, type Target } from './needed-wal.ts';
import {
  findNewestTimeline,
  findTimelineAt,
  holdsBase,
  missingHistories,
  readTimelines,
  type Timeline,
} from './timelines.ts';
import { isSegment } from './wal-segments.ts';

export const RestoreConfig = z.object({ ...BackupFolderConfig, ...BackupIdentityConfig });

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

type Owner = { uid: number; gid: number };

export type Restored = {
  base: StoredBase;
  /** Why other base backups could not be used, which may have been newer. */
  passedOver: string[];
  /** The moment to which the database is restored. */
  at: Date;
  /** The timeline that the server was on at the moment. */
  timeline: number;
  /** Segments that were laid out for the server. */
  segments: number;
  /** Where they are: to be deleted once the server has promoted itself. */
  walFolder: string;
};

/**
 * Lays out a data folder from which Postgres, at its next start, recovers to a moment or to the end of the archive, and
 * promotes itself: the newest base backup that ended before on the way to the timeline of that moment, and the WAL
 * behind it in `<to>.wal`, opened here, so that the identity never reaches the server. What it writes belongs to the
 * owner of the folder that holds it. One that broke off can be run again.
 * @throws ConfigError where no base backup ended before the moment, the archive ends before it or lacks a file, or the place
 * is taken
 */
export async function restoreBase(
  { to, at }: { to: string; at: Target },
  env: NodeJS.ProcessEnv = process.env,
): Promise<Restored> {
  const { BACKUP_DIR: home, BACKUP_IDENTITY: identity } = readConfig(RestoreConfig, env);
  const timeline = await timelineAt(home, at, identity);
  const { bases, broken } = readBases(home);
  const base = bases.findLast(
    ({ manifest }) =>
      holdsBase(timeline, manifest) && (at === 'latest' || Date.parse(manifest.ended_at) <= +at),
  );
  if (base === undefined) throw new ConfigError('expected a base backup that ended before --at');
  for (const place of [to, `${to}.wal`]) {
    if (existsSync(place)) throw new ConfigError(`${place}: expected no such folder`);
  }
  const wal = findNeededWal(at, { home, base, timeline });
  const owner = await ownerOf(path.dirname(to));
  const [draft, walDraft] = [`${to}.draft`, `${to}.wal.draft`];
  for (const place of [draft, walDraft]) await rm(place, { recursive: true, force: true });
  await unpack({ base, identity, owner }, draft);
  await layOutWal({ home, identity, owner, names: wal.names }, walDraft);
  await orderRecovery(draft, { wal: `${to}.wal`, at, timeline: targetOf(timeline, base), owner });
  // The WAL first: a server that starts without it ends its recovery too early.
  await rename(walDraft, `${to}.wal`);
  await rename(draft, to);
  return {
    base,
    passedOver: broken.map(({ message }) => message),
    at: wal.at,
    timeline: timeline.id,
    segments: wal.names.length,
    walFolder: `${to}.wal`,
  };
}

async function timelineAt(home: string, at: Target, identity: string): Promise<Timeline> {
  const names = listWhole(walFolder(home));
  const [missing] = missingHistories(names);
  if (missing !== undefined) throw new ConfigError(`expected ${missing} in the archive`);
  const timelines = await readTimelines(home, identity);
  const found =
    at === 'latest'
      ? findNewestTimeline(timelines, home)
      : findTimelineAt(at, { timelines, segments: names.filter(isSegment) });
  if (found === undefined) throw new ConfigError('expected an archive that begins before --at');
  return found;
}

/** The oldest may have begun before there was an archive. The server finds no history of it, and needs none. */
function targetOf({ id }: Timeline, { manifest }: StoredBase): string {
  return manifest.timeline === id ? 'current' : String(id);
}

async function unpack(
  { base, identity, owner }: { base: StoredBase; identity: string; owner: Owner },
  to: string,
): Promise<void> {
  const digests = base.manifest.files[BASE_ARCHIVE];
  if (digests === undefined) throw new Error(`${BASE_ARCHIVE} is missing in the manifest`);
  const archive = await readEncrypted(path.join(base.folder, BASE_ARCHIVE), { identity, digests });
  await makeFolder(to, owner);
  const entries = extract();
  const reading = pipeline(archive, entries);
  reading.catch(() => undefined);
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const place = path.join(to, name);
    if (!place.startsWith(`${to}${path.sep}`)) throw new Error(`${name}: expected a path within`);
    if (type === 'directory') {
      await makeFolder(place, owner);
      entry.resume();
    } else if (type === 'file') {
      await pipeline(entry, createWriteStream(place, { mode: FILE_MODE, flush: true }));
      await chown(place, owner.uid, owner.gid);
    } else throw new Error(`${name}: expected files and folders`);
  }
  await reading;
}

async function layOutWal(
  input: { home: string; identity: string; owner: Owner; names: readonly string[] },
  to: string,
): Promise<void> {
  const { home, identity, owner, names } = input;
  await makeFolder(to, owner);
  for (const name of names) {
    const folder = walFolder(home);
    const digests = readDescription(folder, name, WalDescription);
    const plain = await readEncrypted(encryptedPath(folder, name), { identity, digests });
    await pipeline(plain, createWriteStream(path.join(to, name), { mode: FILE_MODE }));
    await chown(path.join(to, name), owner.uid, owner.gid);
  }
}

/** The last line of a name in this file counts; the server drops `recovery.signal` when it has promoted itself. */
async function orderRecovery(
  folder: string,
  { wal, at, timeline, owner }: { wal: string; at: Target; timeline: string; owner: Owner },
): Promise<void> {
  const lines = [
    // Any other failure than a missing file would count as the end of the archive: above 125 it ends the server.
    `restore_command = 'if test -e "${wal}/%f"; then cp "${wal}/%f" "%p" || exit 255; else exit 1; fi'`,
    // Always, for the base backup of a restored server still holds the moment of that restore.
    `recovery_target_time = '${at === 'latest' ? '' : formatMoment(at)}'`,
    `recovery_target_timeline = '${timeline}'`,
    `recovery_target_action = 'promote'`,
  ];
  await appendFile(path.join(folder, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  const signal = path.join(folder, 'recovery.signal');
  await writeFile(signal, '', { mode: FILE_MODE });
  await chown(signal, owner.uid, owner.gid);
}

/** The server knows no names of time zones yet when it reads this. */
function formatMoment(at: Date): string {
  return at.toISOString().replace('T', ' ').replace('Z', '+00');
}

async function makeFolder(place: string, owner: Owner): Promise<void> {
  await mkdir(place, { recursive: true, mode: FOLDER_MODE });
  await chmod(place, FOLDER_MODE);
  await chown(place, owner.uid, owner.gid);
}

async function ownerOf(folder: string): Promise<Owner> {
  const { uid, gid } = await stat(folder);
  return { uid, gid };
}
