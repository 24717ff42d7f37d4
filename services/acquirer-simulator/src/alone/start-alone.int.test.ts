import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { noProgress } from '@pixmesh/local-stack/progress';
import { TEST_PASSWORD, testInfra } from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { describeAlone } from './describe-alone.ts';
import { startAlone } from './start-alone.ts';

const FREE_PORTS = { PORT: '0', RECEIVER_PORT: '0', INTERNAL_PORT: '0', TLS_PORT: '0' };

const DATABASE = `alone_${randomBytes(6).toString('hex')}`;

let home: string;

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'simulator-'));
});

afterAll(async () => {
  rmSync(home, { recursive: true });
  const client = new pg.Client({ connectionString: testInfra().postgresUrl });
  await client.connect();
  await client.query(`drop database if exists ${DATABASE} with (force)`);
  await client.end();
});

it('serves the API with and without certificates, and starts again over what it has stored', async () => {
  const env = {
    ...FREE_PORTS,
    LOG_LEVEL: 'silent',
    POSTGRES_URL: testInfra().postgresServiceUrl,
    // The role is everybody's on this server.
    DATABASE_PASSWORD_ACQUIRER_SIMULATOR: TEST_PASSWORD,
  };
  const input = { home, log: noProgress, env, database: DATABASE };
  const offset = Math.floor(Math.random() * 1_000_000);
  {
    await using alone = await startAlone(input);
    const lines = describeAlone(alone);
    expect(lines.join('\n')).toContain(alone.simulator.url);
    expect(lines.join('\n')).not.toContain('secret');
    const { certificates } = alone;
    const client = new Agent({
      connect: {
        ca: readFileSync(certificates.ca),
        cert: readFileSync(certificates.clientCert),
        key: readFileSync(certificates.clientKey),
      },
    });
    const answer = await request(`${alone.simulator.tlsUrl}/v2/gn/saldo`, { dispatcher: client });
    expect([answer.statusCode, await answer.body.json()]).toMatchObject([401, { status: 401 }]);
    await client.close();
    await fetch(`${alone.simulator.url}/control/clock`, { method: 'DELETE' });
    await move(alone.simulator.url, offset);
  }
  await using again = await startAlone(input);
  expect(await move(again.simulator.url, 1)).toBe(offset + 1);
});

async function move(url: string, seconds: number): Promise<unknown> {
  const answer = await fetch(`${url}/control/clock`, {
    method: 'POST',
    body: JSON.stringify({ advance_seconds: seconds }),
  });
  return ((await answer.json()) as { offset_seconds: number }).offset_seconds;
}
