import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { descriptionPath, listBases, listWhole, walFolder } from './backup-folder.ts';
import { checkBackup } from './check-backup.ts';
import type { Target } from './needed-wal.ts';
import { restoreBase } from './restore-base.ts';
import { takeBaseBackup } from './take-base-backup.ts';
import {
  archiveAll,
  ask,
  type BackedUpServer,
  startBackedUpServer,
  startServer,
} from './testing/backed-up-server.ts';
import { isSegment, segmentNumber, timelineOf } from './wal-segments.ts';

/**
 * One folder of backups after a restore: a server on timeline 1 has a base backup before the moment that was restored,
 * and one after it, which timeline 2 does not lead back to.
 */
let server: BackedUpServer;
/** Each between two rows: of timeline 1 before the restore and after it, and of timeline 2. */
let restored: Date;
let left: Date;
let continued: Date;
/** After the last commit, and before the end of the archive. */
let end: Date;

beforeAll(async () => {
  server = await startBackedUpServer();
  await server.run('create table payments (id int primary key)');
  await takeBaseBackup(server.env);
  await insert(server.url, 1);
  restored = await server.now();
  await insert(server.url, 2);
  await takeBaseBackup(server.env);
  await insert(server.url, 3);
  left = await server.now();
  await insert(server.url, 4);
  await server.archiveAll();
  await server.stop();
  await using second = await startRestored(restored, server.env);
  await insert(second.url, 5);
  await archiveAll(second.url);
  continued = await clockOf(second.url);
  await insert(second.url, 6);
  await takeBaseBackup({ ...server.env, BACKUP_DATABASE_URL: second.url });
  await insert(second.url, 7);
  end = await clockOf(second.url);
  await archiveAll(second.url);
}, 180_000);
afterAll(() => server[Symbol.asyncDispose]());

describe('after a restore into the same folder', () => {
  test('a moment of the new timeline is restored from a base backup that leads to it', async () => {
    await using third = await startRestored(continued);
    expect(third.timeline).toBe(2);
    expect(await rowsOf(third.url)).toEqual([1, 5]);
  }, 120_000);

  test('a moment that the restore left is restored on the timeline that it belongs to', async () => {
    await using third = await startRestored(left);
    expect(third.timeline).toBe(1);
    expect(await rowsOf(third.url)).toEqual([1, 2, 3]);
  }, 120_000);

  test('the end of the archive is restored, though no commit follows it', async () => {
    await using third = await startRestored('latest');
    expect(third.timeline).toBe(2);
    expect(+third.at).toBeGreaterThan(+end);
    expect(await rowsOf(third.url)).toEqual([1, 5, 6, 7]);
  }, 120_000);

  test('a server that recovers is not copied: its primary says what is archived', async () => {
    await using third = await startReplica();
    const env = { ...server.env, BACKUP_DATABASE_URL: third.url };
    await expect(takeBaseBackup(env)).rejects.toThrow('expected the primary server');
  }, 120_000);

  test('the backup is whole', async () => {
    expect((await checkBackup(server.env)).problems).toEqual([]);
  });

  test('a lost segment is found though another timeline has one of its number', async () => {
    const names = listWhole(walFolder(server.folder)).filter(isSegment);
    const lost = names.find((name) => timelineOf(name) === 2) ?? '';
    const isSameNumber = (name: string) => segmentNumber(name) === segmentNumber(lost);
    expect(names.filter(isSameNumber)).toHaveLength(2);
    const { problems, refusal } = await checkWithout(lost);
    expect(refusal).toContain(`expected ${lost}`);
    expect(problems).toEqual([
      `${listBases(server.folder)[0]?.folder}: segment ${lost} of the WAL behind it is missing`,
    ]);
  });

  test('a lost history is found, and nothing is restored without it', async () => {
    const { problems, refusal } = await checkWithout('00000002.history');
    expect(problems).toContainEqual('00000002.history is not archived');
    expect(refusal).toContain('expected 00000002.history');
  });
});

/** What is said while a file of the archive is missing. */
async function checkWithout(name: string): Promise<{ problems: string[]; refusal: string }> {
  const file = descriptionPath(walFolder(server.folder), name);
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  try {
    const { problems } = await checkBackup(server.env);
    const to = path.join(server.home, 'refused');
    const refusal = await restoreBase({ to, at: continued }, server.env).then(
      () => '',
      (error: Error) => error.message,
    );
    return { problems, refusal };
  } finally {
    writeFileSync(file, text);
    rmSync(path.join(server.home, 'refused'), { recursive: true, force: true });
    rmSync(path.join(server.home, 'refused.wal'), { recursive: true, force: true });
  }
}

let homes = 0;

/** A server that has recovered to a moment and promoted itself. It archives where the environment names a folder. */
async function startRestored(at: Target, environment: NodeJS.ProcessEnv = {}) {
  homes += 1;
  const { home, dataFolder } = server.anotherHome(`restored-${homes}`);
  const { timeline, at: restoredTo } = await restoreBase({ to: dataFolder, at }, server.env);
  const started = await startServer(home, environment);
  await using db = createPool({ url: started.url, applicationName: 'restored', max: 1 });
  await eventually(async () => {
    expect(await db.query(sql`select pg_is_in_recovery() as recovering`)).toEqual([
      { recovering: false },
    ]);
  }, 60_000);
  return { ...started, timeline, at: restoredTo };
}

/** A server that recovers from the archive for ever. */
async function startReplica() {
  const { home, dataFolder } = server.anotherHome('replica');
  await restoreBase({ to: dataFolder, at: 'latest' }, server.env);
  renameSync(path.join(dataFolder, 'recovery.signal'), path.join(dataFolder, 'standby.signal'));
  return await startServer(home);
}

async function insert(url: string, id: number): Promise<void> {
  await ask(url, `insert into payments values (${id})`);
}

async function rowsOf(url: string): Promise<number[]> {
  return (await ask<{ id: number }>(url, 'select id from payments order by id')).map(
    ({ id }) => id,
  );
}

async function clockOf(url: string): Promise<Date> {
  const [row] = await ask<{ now: Date }>(url, 'select clock_timestamp() as now');
  return row?.now ?? new Date();
}
