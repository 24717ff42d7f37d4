import { randomBytes } from 'node:crypto';

import { createPool, type Database } from '@pixmesh/postgres/pool';
import pg from 'pg';

import { TEMPLATE_DATABASE, TEST_PASSWORD, testInfra } from './test-infra.ts';

export type TestDatabase = AsyncDisposable & {
  /** URL for the service's own role. */
  url: string;
  /** URL for the superuser, to look at what the role may not. */
  adminUrl: string;
  /** A pool of the service's own role. */
  db: Database;
};

/** A fresh clone of the migrated template, seen through the role of one service. */
export async function createTestDatabase(schema: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const server = testInfra().postgresUrl;
  await onServer(server, `create database ${name} template ${TEMPLATE_DATABASE}`);
  const adminUrl = withPath(server, name);
  const url = withUser(adminUrl, `pixmesh_${schema}`);
  const db = createPool({ url, applicationName: name });
  return {
    url,
    adminUrl,
    db,
    [Symbol.asyncDispose]: async () => {
      await db[Symbol.asyncDispose]();
      await onServer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
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
