import { randomBytes } from 'node:crypto';

import { createPool, type Database } from '@pixmesh/postgres/pool';
import pg from 'pg';

import { ALL_SCHEMAS, templateDatabase, TEST_PASSWORD, testInfra } from './test-infra.ts';

export type TestDatabase = AsyncDisposable & {
  /** URL for the service's own role. */
  url: string;
  /** URL for the superuser, to look at what the role may not. */
  adminUrl: string;
  /** A pool of the service's own role. */
  db: Database;
};

/** A fresh database with the migrated schema of one service alone, seen through its role. */
export function createTestDatabase(schema: string): Promise<TestDatabase> {
  return cloneDatabase(templateDatabase(schema), schema);
}

/** The same with every schema of the mesh in it. */
export function createMeshDatabase(schema: string): Promise<TestDatabase> {
  return cloneDatabase(templateDatabase(ALL_SCHEMAS), schema);
}

async function cloneDatabase(template: string, schema: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const server = testInfra().postgresUrl;
  await onServer(server, async (client) => {
    const { rows } = await client.query<{ fsync: string }>('show fsync');
    // Copied files cost two checkpoints: next to nothing where none waits for the disk.
    const strategy = rows[0]?.fsync === 'off' ? 'file_copy' : 'wal_log';
    await client.query(`create database ${name} template ${template} strategy ${strategy}`);
  });
  const adminUrl = withPath(server, name);
  const url = withUser(withPath(testInfra().postgresServiceUrl, name), `pixmesh_${schema}`);
  const db = createPool({ url, applicationName: name });
  return {
    url,
    adminUrl,
    db,
    [Symbol.asyncDispose]: async () => {
      await db[Symbol.asyncDispose]();
      await onServer(server, (client) =>
        client.query(`drop database if exists ${name} with (force)`),
      );
    },
  };
}

async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function withPath(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}

function withUser(url: string, user: string): string {
  const parsed = new URL(url);
  parsed.username = user;
  parsed.password = TEST_PASSWORD;
  return parsed.href;
}
