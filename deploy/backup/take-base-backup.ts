import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';

import { ConfigError, EnvironmentConfig, readConfig } from '@pixmesh/service/config';
import pg from 'pg';
import { z } from 'zod';

import {
  BASE_ARCHIVE,
  BASE_FILES,
  type BaseManifest,
  baseFolder,
  manifestPath,
  readBases,
} from './backup-folder.ts';
import { writeDurably, writeEncrypted } from './encrypted-file.ts';
import { pruneBackups } from './prune-backups.ts';
import { receiveBaseBackup } from './receive-base-backup.ts';
import { markRunning, removeUnfinished } from './remove-unfinished.ts';
import { SEGMENT_BYTES, segmentOf } from './wal-segments.ts';

/** What every command of the backup knows. */
export const BackupFolderConfig = {
  ...EnvironmentConfig,
  BACKUP_DIR: z.string({ error: 'expected the path of a folder' }),
} as const;

const RECIPIENT = z
  .string()
  .regex(/^age1[a-z0-9]+$/, { error: 'expected age1…, as age-keygen prints it' });

export const BackupConfig = z.object({
  ...BackupFolderConfig,
  /** A role with REPLICATION that may read what `export-audit.ts` reads. */
  BACKUP_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'expected a postgres:// URL' }),
  /** Whom backups are encrypted to. What opens them, the identity, is kept elsewhere. */
  BACKUP_RECIPIENT: RECIPIENT,
  /** Base backups older than this, and WAL that none needs, are deleted; absent: nothing is. Two always stay. */
  BACKUP_KEEP_DAYS: z.coerce.number().int().min(1).optional(),
});

const CONNECT_MS_MAX = 10_000;
/** A server that vanished is noticed after ten probes more. While it waits for its archive nothing is sent. */
const KEEP_ALIVE_AFTER_MS = 60_000;

const FOLDER_MODE = 0o700;
const UNFIT_FOR_NAMES = /[-:]|\.\d+/g;

/**
 * Takes a base backup of the whole server while it works. Answers its folder. One that fails leaves nothing; what one
 * that was killed left is deleted by a later one.
 */
export async function takeBaseBackup(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const config = readConfig(BackupConfig, env);
  // Before the copy, which needs the room.
  tryToDelete(() => removeUnfinished(config.BACKUP_DIR, new Date()));
  const startedAt = new Date().toISOString();
  const folder = path.join(
    baseFolder(config.BACKUP_DIR),
    startedAt.replaceAll(UNFIT_FOR_NAMES, ''),
  );
  const settings = {
    connectionString: config.BACKUP_DATABASE_URL,
    replication: 'true',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
  const client = new pg.Client(settings);
  // Whatever breaks a copy is met where it is read.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const server = await readServer(client);
    expectSameCluster(config.BACKUP_DIR, server);
    mkdirSync(baseFolder(config.BACKUP_DIR), { recursive: true, mode: FOLDER_MODE });
    // One that is there belongs to another run of this second.
    mkdirSync(folder, { mode: FOLDER_MODE });
    await fillFolder(folder, { client, server, startedAt, recipient: config.BACKUP_RECIPIENT });
  } finally {
    await client.end();
  }
  const keepDays = config.BACKUP_KEEP_DAYS;
  if (keepDays !== undefined) {
    tryToDelete(() => pruneBackups(config.BACKUP_DIR, { keepDays, now: new Date() }));
  }
  return folder;
}

/** The folder of a run that fails is deleted. */
async function fillFolder(
  folder: string,
  run: { client: pg.Client; server: ServerFacts; startedAt: string; recipient: string },
): Promise<void> {
  using _running = markRunning(folder);
  try {
    const copy = await storeCopy(run.client, folder, run.recipient);
    const manifest: BaseManifest = {
      format: 'pixmesh-base-backup-1',
      started_at: run.startedAt,
      ended_at: new Date().toISOString(),
      ...run.server,
      ...copy,
    };
    await writeDurably(manifestPath(folder), `${JSON.stringify(manifest, null, 2)}\n`);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** What cannot be deleted takes up room, and makes no backup worse: were this its failure, it would be taken again. */
function tryToDelete(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.stderr.write(`backup: old files were not deleted: ${(error as Error).message}\n`);
  }
}

/**
 * Names of the WAL say nothing of its cluster: where one folder has two of them, a restore would mix them.
 * @throws ConfigError where the folder has base backups of another cluster
 */
function expectSameCluster(home: string, { system_identifier }: ServerFacts): void {
  const known = readBases(home).bases.at(-1)?.manifest.system_identifier;
  if (known === undefined || known === system_identifier) return;
  throw new ConfigError(
    `expected a folder of its own for cluster ${system_identifier}: this one has backups of ${known}`,
  );
}

type ServerFacts = Pick<BaseManifest, 'server_version' | 'system_identifier'>;

/** @throws ConfigError where a copy could not be restored: without its WAL it is worth nothing */
async function readServer(client: pg.Client): Promise<ServerFacts> {
  // In capitals: a replication connection takes anything else for SQL, and refuses it.
  const show = async (name: string): Promise<string> => {
    const { rows } = await client.query<Record<string, string>>(`SHOW ${name}`);
    return String(Object.values(rows[0] ?? {})[0]);
  };
  // What a replica archives, and when, is for its primary to say: a copy of it may wait for WAL that never comes.
  if ((await show('in_hot_standby')) === 'on') throw new ConfigError('expected the primary server');
  if ((await show('archive_mode')) === 'off') {
    throw new ConfigError('expected a server with archive_mode = on');
  }
  if ((await show('wal_segment_size')) !== `${SEGMENT_BYTES / 1024 / 1024}MB`) {
    throw new ConfigError('expected a server with segments of 16 MB');
  }
  const { rows } = await client.query<{ systemid: string }>('IDENTIFY_SYSTEM');
  return {
    server_version: await show('server_version'),
    system_identifier: String(rows[0]?.systemid),
  };
}

async function storeCopy(client: pg.Client, folder: string, recipient: string) {
  const [archive, manifest] = [new PassThrough(), new PassThrough()];
  const [edges, stored, files] = await Promise.all([
    receiveBaseBackup(client, { archive, manifest }),
    writeEncrypted(path.join(folder, BASE_ARCHIVE), archive, { recipient }),
    writeEncrypted(path.join(folder, BASE_FILES), manifest, { recipient }),
  ]);
  const { start, stop } = edges;
  return {
    timeline: start.timeline,
    start_lsn: start.lsn,
    stop_lsn: stop.lsn,
    first_segment: segmentOf(start.lsn, start.timeline),
    last_segment: segmentOf(stop.lsn, stop.timeline),
    files: { [BASE_ARCHIVE]: stored, [BASE_FILES]: files },
  };
}
