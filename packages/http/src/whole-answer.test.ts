import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Pool } from 'undici';
import { expect, test } from 'vitest';

import { AnswerTooLargeError, requestWhole } from './whole-answer.ts';

const REQUEST = { method: 'POST', path: '/', headers: { 'x-test': '1' }, body: 'asked' } as const;
const LIMITS = { signal: new AbortController().signal, bytesMax: 1_000 };

async function serve(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
  return {
    pool,
    [Symbol.asyncDispose]: async () => {
      await pool.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('status, headers and the whole body are those of the final answer', async () => {
  await using served = await serve((request, response) => {
    response.writeEarlyHints({ link: '</a>; rel=preload' });
    response.writeHead(201, { 'x-answer': 'yes' });
    request.on('data', (chunk) => response.write(`${chunk} and `));
    request.on('end', () => response.end('answered'));
  });
  const answer = await requestWhole(served.pool, REQUEST, LIMITS);
  expect(answer).toMatchObject({ status: 201, headers: { 'x-answer': 'yes' } });
  expect(answer.body.toString()).toBe('asked and answered');
});

test('an answer that is too large is not read, and its connection is used no more', async () => {
  const sockets = new Set<unknown>();
  await using served = await serve((request, response) => {
    sockets.add(request.socket);
    response.end(Buffer.alloc(sockets.size === 1 ? 100_000 : 10));
  });
  const asked = requestWhole(served.pool, REQUEST, LIMITS);
  await expect(asked).rejects.toBeInstanceOf(AnswerTooLargeError);
  expect((await requestWhole(served.pool, REQUEST, LIMITS)).body).toHaveLength(10);
  expect(sockets.size).toBe(2);
});

test('an abort ends it at once, and what has no connection yet is never sent', async () => {
  let requests = 0;
  const begun = Promise.withResolvers<void>();
  await using served = await serve(() => {
    requests += 1;
    begun.resolve();
  });
  const first = new AbortController();
  const second = new AbortController();
  const sent = requestWhole(served.pool, REQUEST, { ...LIMITS, signal: first.signal });
  await begun.promise;
  // The only connection is taken.
  const waiting = requestWhole(served.pool, REQUEST, { ...LIMITS, signal: second.signal });
  second.abort(new Error('second'));
  await expect(waiting).rejects.toThrow('second');
  first.abort(new Error('first'));
  await expect(sent).rejects.toThrow('first');
  const aborted = requestWhole(served.pool, REQUEST, { ...LIMITS, signal: second.signal });
  await expect(aborted).rejects.toThrow('second');
  expect(requests).toBe(1);
});

test('a connection that ends is its error', async () => {
  await using served = await serve((request) => request.socket.destroy());
  const asked = requestWhole(served.pool, REQUEST, LIMITS);
  await expect(asked).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
});
