import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { startTestSimulator } from '#test/test-simulator.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const WALK = /### A walk through it\n.*?```sh\n(.*?)```/s;
const TIMEOUT_MS = 60_000;

const run = promisify(execFile);

test(
  'every line of the README’s walk prints what stands behind it',
  async () => {
    const walk = WALK.exec(README)?.[1] ?? '';
    const expected = [...walk.matchAll(/ #= (.*)$/gm)].map(([, text]) => text);
    await using database = await createTestDatabase('acquirer_simulator');
    await using simulator = await startTestSimulator(database.url, {
      ACQUIRER_CLIENT_ID: 'client',
      ACQUIRER_CLIENT_SECRET: 'secret',
      ACQUIRER_PIX_KEY: 'pix@example.com',
    });
    const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', walk], {
      env: { ...process.env, SIM: simulator.url, RECEIVER: simulator.receiverUrl },
    });
    expect(stdout.trimEnd().split('\n')).toEqual(expected);
    expect(expected.length).toBeGreaterThan(15);
  },
  TIMEOUT_MS,
);
