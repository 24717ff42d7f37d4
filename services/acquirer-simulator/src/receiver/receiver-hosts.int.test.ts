import { sendRaw } from '@pixmesh/http/testing/raw-request';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestSimulator, type TestSimulator } from '#test/test-simulator.ts';

let database: TestDatabase;
let simulator: TestSimulator;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function call(
  target: string,
  host: string | null,
  { receiverUrl }: { receiverUrl: string } = simulator,
) {
  const port = Number(new URL(receiverUrl).port);
  const lines = host === null ? '' : `host: ${host}\r\n`;
  const version = host === null ? '1.0' : '1.1';
  const head = `${target} HTTP/${version}\r\n${lines}content-length: 2\r\nconnection: close\r\n\r\n{}`;
  return await sendRaw(port, head);
}

async function recordedAt(path: string): Promise<number> {
  const { body } = await simulator.call('GET', `/receiver/requests?path=${path}`);
  return (body['data'] as object[]).length;
}

describe('the development receiver', () => {
  test.each(['rebound.example', 'receiver.example.com.evil.example', 'xreceiver.example.com', ''])(
    'answers nothing to %j, which somebody else may have pointed here, and records nothing',
    async (host) => {
      for (const target of ['GET /requests', 'DELETE /requests', 'PUT /behaviour/x', 'POST /a']) {
        const { status, body } = await call(target, host);
        expect([target, status, body]).toEqual([target, 403, expect.stringContaining('"host"')]);
      }
      expect(await recordedAt('/a')).toBe(0);
    },
  );

  test.each(['shop.receiver.example.com', 'a.b.receiver.example.com:80', 'S.RECEIVER.example.com'])(
    'records each request to %s, which is mapped to it, and takes none for its own calls',
    async (host) => {
      const path = `/${host.replaceAll(/\W/g, '-')}`;
      expect((await call(`POST ${path}`, host)).status).toBe(200);
      expect(await recordedAt(path)).toBe(1);
      const before = await recordedAt('/requests');
      expect((await call('GET /requests', host)).body).not.toContain('received_at');
      expect(await recordedAt('/requests')).toBe(before + 1);
    },
  );

  test.each(['localhost', '127.0.0.1:8090', '[::1]', null])(
    'takes its own calls under loopback, and without a name: %s',
    async (host) => {
      const { status, body } = await call('GET /requests', host);
      expect([status, body]).toEqual([200, expect.stringContaining('"data"')]);
    },
  );

  test('answers to any name where other machines reach it', async () => {
    await using open = await startTestSimulator(database.url, { HOST: '0.0.0.0' });
    expect((await call('GET /requests', 'simulator:8090', open)).status).toBe(200);
  });
});
