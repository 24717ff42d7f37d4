import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { issueIdentities } from '@pixmesh/local-stack/infra/identities';
import { findUnprivilegedAccount } from '@pixmesh/local-stack/infra/postgres-account';
import { preparePostgresFiles } from '@pixmesh/local-stack/infra/postgres-files';
import { startPostgres } from '@pixmesh/local-stack/infra/postgres-process';
import { closeFolder } from '@pixmesh/local-stack/infra/private-home';
import { createProgress } from '@pixmesh/local-stack/progress';
import { createSupervisor } from '@pixmesh/local-stack/supervisor/supervisor';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';

const ARCHIVED_MS_MAX = 60_000;
const PASSWORD_FILE = 'data/postgres.password';

export type BackedUpServer = AsyncDisposable & {
  home: string;
  /** Of the backups. */
  folder: string;
  recipient: string;
  url: string;
  /** Settings of every command of the backup. */
  env: NodeJS.ProcessEnv;
  run(statement: string): Promise<object[]>;
  /** By the server's clock. */
  now(): Promise<Date>;
  /** Resolves when everything that was written so far is in the archive. */
  archiveAll(): Promise<void>;
  /** Ends it as a loss does: what it has not archived stays with it. */
  stop(): Promise<void>;
  /** Another home with the same passwords, and where the data folder of its server belongs. */
  anotherHome(name: string): { home: string; dataFolder: string };
};

/** Postgres in a home of its own, with an archive and an identity that was made for it. */
export async function startBackedUpServer(): Promise<BackedUpServer> {
  const home = mkdtempSync(path.join(tmpdir(), 'pixmesh-backup-'));
  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  const folder = path.join(home, 'backups');
  const settings = { BACKUP_DIR: folder, BACKUP_RECIPIENT: recipient };
  const started = await startServer(home, settings);
  const run = <Row extends object>(statement: string) => ask<Row>(started.url, statement);
  return {
    home,
    folder,
    recipient,
    url: started.url,
    env: {
      ...settings,
      NODE_ENV: 'test',
      BACKUP_IDENTITY: identity,
      BACKUP_DATABASE_URL: started.url,
      ADMIN_DATABASE_URL: started.url,
    },
    run,
    now: async () => {
      const [row] = await run<{ now: Date }>('select clock_timestamp() as now');
      return row?.now ?? new Date();
    },
    archiveAll: () => archiveAll(started.url),
    stop: async () => await started[Symbol.asyncDispose](),
    anotherHome: (name) => {
      const other = path.join(home, name);
      const { dataFolder } = filesOf(other);
      copyFileSync(path.join(home, PASSWORD_FILE), path.join(other, PASSWORD_FILE));
      return { home: other, dataFolder };
    },
    [Symbol.asyncDispose]: async () => {
      await started[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Postgres on the data folder of a home, which is made if need be. */
export async function startServer(
  home: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<AsyncDisposable & { url: string }> {
  closeFolder(home);
  await issueIdentities(home);
  const supervisor = await createSupervisor({ home, log: createProgress() });
  const [port = 0] = await freePorts(1);
  const deps = { supervisor, log: createProgress() };
  const url = await startPostgres(deps, { home, port, environment });
  return { url, [Symbol.asyncDispose]: () => supervisor.stop() };
}

function filesOf(home: string) {
  closeFolder(home);
  return preparePostgresFiles(home, findUnprivilegedAccount(), createProgress());
}

/** Resolves when everything that was written so far is in the archive. */
export async function archiveAll(url: string): Promise<void> {
  const [row] = await ask<{ name: string }>(url, 'select pg_walfile_name(pg_switch_wal()) as name');
  await eventually(async () => {
    const [archived] = await ask<{ last: string | null }>(
      url,
      'select last_archived_wal as last from pg_stat_archiver',
    );
    if ((archived?.last ?? '') < (row?.name ?? '')) throw new Error('not archived yet');
  }, ARCHIVED_MS_MAX);
}

/** One statement by a connection of its own. */
export async function ask<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
