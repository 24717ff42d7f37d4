import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { bootProcess } from '@pixmesh/testkit/boot-process';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { ownProcess } from '@pixmesh/testkit/owned-process';
import { processEnvironment } from '@pixmesh/testkit/process-environment';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testIdentityFolder } from '@pixmesh/testkit/test-infra';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** Nothing listens there. */
const NOWHERE = '127.0.0.1:1';

let database: TestDatabase;
let cache: string;

beforeEach(async () => {
  database = await createTestDatabase('ledger');
  cache = mkdtempSync(path.join(tmpdir(), 'pixmesh-compile-'));
});

afterEach(async () => {
  rmSync(cache, { recursive: true });
  await database[Symbol.asyncDispose]();
});

test('without broker and registry it is alive and ready and answers, and keeps what it compiled', async () => {
  const { child, ports } = await bootProcess(2, spawnLedger);
  const [internalPort, port] = ports;
  const target = { owner: 'ledger', url: `https://127.0.0.1:${port}` } as const;
  const balance = await callOwner(target, { route: 'GET /v1/balance', caller: aCaller() });
  expect(balance.status).toBe(200);
  expect(await statusOf(`http://127.0.0.1:${internalPort}/livez`)).toBe(200);
  await kill(child);
  const [version = ''] = readdirSync(cache);
  expect(readdirSync(path.join(cache, version)).length).toBeGreaterThan(100);
});

test('where no deploy job has stored its schemas it ends and names them', async () => {
  const admin = createPool({ url: database.adminUrl, applicationName: 'start', max: 1 });
  await admin.query(sql`delete from ledger.message_schemas`);
  await admin[Symbol.asyncDispose]();
  const child = ownProcess(spawnLedger(await freePorts(2)));
  const stderr = text(child.stderr);
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(1);
  expect(await stderr).toContain('has the deploy job run?');
  expect(await stderr).toContain('schemas not stored: ledger.events.v1-received_pix.credited');
});

function spawnLedger([internalPort, port]: readonly number[]) {
  return spawn(process.execPath, ['services/ledger/src/main.ts'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...processEnvironment(),
      NODE_COMPILE_CACHE: cache,
      NODE_ENV: 'test',
      LOG_LEVEL: 'error',
      DATABASE_URL: database.url,
      MESH_TLS_DIR: testIdentityFolder('ledger'),
      KAFKA_BROKERS: NOWHERE,
      SCHEMA_REGISTRY_URL: `http://${NOWHERE}`,
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
    },
  });
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}
