import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

import { createLogger } from '@pixmesh/telemetry/logger';
import { currentRequestId } from '@pixmesh/telemetry/request-id';
import { recordSpans } from '@pixmesh/telemetry/testing/recorded-spans';
import { makeIdentity, makeTestAuthority } from '@pixmesh/testkit/made-identities';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';

import { deadlineIn } from './deadline.ts';
import { createInternalClient } from './internal-client.ts';
import type { RequestIdOf } from './request-context.ts';
import { createServiceApp, type MutualTls } from './service-app.ts';
import { listen, sendRaw } from './testing/raw-request.ts';

const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
const OTHER = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a002';

// Contexts need a process that has started telemetry.
const recorded = recordSpans();
afterAll(() => recorded.stop());

let lines: Record<string, unknown>[];
beforeEach(() => {
  lines = [];
});

async function aService(requestIdOf?: RequestIdOf, mutualTls?: MutualTls): Promise<number> {
  const logger = createLogger('test', 'debug', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const options = { logger, listener: 'test', mutualTls };
  const app = createServiceApp({ ...options, ...(requestIdOf && { requestIdOf }) });
  app.post('/things', async () => {
    logger.info('before');
    await new Promise((resolve) => setImmediate(resolve));
    logger.info('after');
    return { id: currentRequestId() };
  });
  app.get('/fails', async () => Promise.reject(new TypeError('bug')));
  onTestFinished(() => app.close());
  return await listen(app);
}

function post(headers: string): string {
  return `POST /things HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${headers}content-length: 2\r\n\r\n{}`;
}

const idsByLine = () => lines.map(({ msg, request_id }) => [msg, request_id]);

test('every line that is written while a request is handled carries its id, also after its body', async () => {
  const port = await aService();
  const answer = await sendRaw(port, post(`x-pixmesh-request-id: ${ID}\r\n`));
  expect(JSON.parse(answer.body)).toEqual({ id: ID });
  await expect.poll(idsByLine).toEqual([
    ['before', ID],
    ['after', ID],
    ['request', ID],
  ]);
});

test('a body that comes later than its headers belongs to its request', async () => {
  const begun = Promise.withResolvers<void>();
  const port = await aService(() => {
    begun.resolve();
    return ID;
  });
  const socket = connect(port, '127.0.0.1');
  const head = 'POST /things HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\n';
  socket.write(head);
  await begun.promise;
  socket.write('{}');
  const answer = await text(socket);
  expect(answer).toContain(`{"id":"${ID}"}`);
});

test('a failure is logged with the id as well', async () => {
  const port = await aService(() => ID);
  await sendRaw(port, 'GET /fails HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  expect(idsByLine()[0]).toEqual(['request failed', ID]);
});

test.each([
  ['no id', ''],
  ['one that is none', 'x-pixmesh-request-id: mine"\r\n'],
])('a call with %s is handled without one', async (_what, headers) => {
  const port = await aService();
  expect(JSON.parse((await sendRaw(port, post(headers))).body)).toEqual({ id: null });
  await expect.poll(() => lines.length).toBe(3);
  for (const line of lines) expect(line).not.toHaveProperty('request_id');
});

test('where strangers call, their own header counts for nothing', async () => {
  const port = await aService(() => ID);
  const answer = await sendRaw(port, post(`x-pixmesh-request-id: ${OTHER}\r\n`));
  expect(JSON.parse(answer.body)).toEqual({ id: ID });
});

test('a call to a peer carries the id of the request that it is made for', async () => {
  const authority = await makeTestAuthority();
  const callee = await aService(undefined, await makeIdentity(authority, 'ledger'));
  const client = createInternalClient({
    service: 'ledger',
    url: `https://127.0.0.1:${callee}`,
    identity: await makeIdentity(authority, 'gateway'),
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  const caller = createServiceApp({
    logger: createLogger('test', 'silent'),
    listener: 'test',
    requestIdOf: () => ID,
  });
  caller.get('/', async () => {
    const call = { method: 'POST', path: '/things', claims: { tenant: aCaller() } } as const;
    const answer = await client.request({
      ...call,
      deadline: deadlineIn(5_000),
      body: Buffer.from('{}'),
    });
    return JSON.parse(answer.body.toString()) as object;
  });
  onTestFinished(() => caller.close());
  const answer = await sendRaw(
    await listen(caller),
    'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  expect(JSON.parse(answer.body)).toEqual({ id: ID });
});
