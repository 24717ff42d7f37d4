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
  const { postgresUrl } = testInfra();
  const { admin, strategy } = await (server ??= openServer(postgresUrl));
  await admin.query(`create database ${name} template ${template} strategy ${strategy}`);
  const adminUrl = withPath(postgresUrl, name);
  const url = withUser(withPath(testInfra().postgresServiceUrl, name), `pixmesh_${schema}`);
  const db = createPool({ url, applicationName: name });
  return {
    url,
    adminUrl,
    db,
    [Symbol.asyncDispose]: async () => {
      await db[Symbol.asyncDispose]();
      await admin.query(`drop database if exists ${name} with (force)`);
    },
  };
}

/** The superuser's connections of this process, which make and drop its databases; they keep no process alive. */
let server: Promise<Server> | null = null;

type Server = { admin: pg.Pool; strategy: 'file_copy' | 'wal_log' };

async function openServer(connectionString: string): Promise<Server> {
  const admin = new pg.Pool({ connectionString, max: 2, allowExitOnIdle: true });
  // A connection that breaks while idle is replaced at the next use.
  admin.on('error', () => undefined);
  const { rows } = await admin.query<{ fsync: string }>('show fsync');
  // Copied files cost two checkpoints: next to nothing where none waits for the disk.
  return { admin, strategy: rows[0]?.fsync === 'off' ? 'file_copy' : 'wal_log' };
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
