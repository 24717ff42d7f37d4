import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createPool } from '@pixmesh/postgres/pool';
import { readServerState } from '@pixmesh/postgres/server-state.sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, expect, test } from 'vitest';

import { archiveAll, ask, startServer } from './testing/backed-up-server.ts';

const MAY_END = 'may-end';
const SEEN_MS_MAX = 30_000;

const home = mkdtempSync(path.join(tmpdir(), 'pixmesh-hanging-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('an archive command that does not end counts as one that fails, until the segment is archived', async () => {
  await configureArchive(`while test ! -e ${MAY_END}; do sleep 0.1; done`);
  await using server = await startServer(home);
  await using db = createPool({ url: server.url, applicationName: 'hanging-archive', max: 1 });
  const failing = async (archiveSecondsMax: number) =>
    (await readServerState(db, { archiveSecondsMax }))?.isArchiveFailing;
  expect(await failing(0)).toBe(false);
  await ask(server.url, 'create table written ()');
  await ask(server.url, 'select pg_switch_wal()');
  await eventually(async () => expect(await failing(0)).toBe(true), SEEN_MS_MAX);
  expect(await failing(600)).toBe(false);
  const [row] = await ask<{ data_directory: string }>(server.url, 'show data_directory');
  writeFileSync(path.join(row?.data_directory ?? '', MAY_END), '');
  await ask(server.url, 'drop table written');
  await archiveAll(server.url);
  expect(await failing(0)).toBe(false);
}, 120_000);

/** For the next start of the server. */
async function configureArchive(command: string): Promise<void> {
  await using server = await startServer(home);
  await ask(server.url, "alter system set archive_mode = 'on'");
  await ask(server.url, `alter system set archive_command = '${command}'`);
}
