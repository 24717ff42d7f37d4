import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { eventually } from '@pixmesh/testkit/eventually';
import { buildConnector } from 'undici';
import { describe, expect, test } from 'vitest';

import { answerWith, startReceiver } from '#test/start-receiver.ts';

import { createConnectionPools, openVerifiedSocket } from './connection-pools.ts';
import { createExchange, type Exchange } from './exchange.ts';

/** The least share of posts that find an open connection. */
const REUSE_MIN = 0.95;
const ORIGINS = scaled(60, 1_000);
const POSTS_PER_ORIGIN = scaled(50, 60);
/** Two posts are up to two intervals apart, and the receiver's sockets count as gone after 3 s. */
const INTERVAL_MS = scaled(150, 1_400);

describe('a steady load on many receivers', () => {
  test(
    `finds a kept socket for at least 95 % of the posts to ${ORIGINS} of them`,
    async () => {
      await using receiver = await startReceiver();
      let turn = 0;
      await using exchange = createExchange({
        timeoutMs: 10_000,
        // As name servers do, in another order each time.
        resolveName: async () =>
          (turn += 1) % 2 === 0 ? ['1.1.1.1', '1.0.0.1'] : ['1.0.0.1', '1.1.1.1'],
        devReceivers: [],
        isForbiddenAddress: () => false,
        openSocket: (timeout) => {
          const connect = buildConnector({ timeout });
          return (options, callback) =>
            connect({ ...options, hostname: '127.0.0.1', port: String(receiver.port) }, callback);
        },
      });
      const outcomes = await Promise.all(
        Array.from({ length: ORIGINS }, (_, origin) =>
          postSteadily(exchange, `http://shop-${origin}.example.net/hook`),
        ),
      );
      expect(outcomes.flat().filter((outcome) => outcome !== 'succeeded')).toEqual([]);
      const [posts, connections] = [receiver.requests.length, receiver.connections()];
      process.stdout.write(`${posts} posts over ${connections} connections\n`);
      expect(posts).toBe(ORIGINS * POSTS_PER_ORIGIN);
      expect(1 - connections / posts).toBeGreaterThanOrEqual(REUSE_MIN);
    },
    isLong ? 300_000 : 60_000,
  );
});

describe('pools beyond their number', () => {
  test('make room: the one used longest ago is closed, the others keep their sockets', async () => {
    await using receiver = await startReceiver();
    await using pools = openPools(2);
    for (const name of ['one', 'two', 'one', 'three', 'one', 'three']) await ask(name);
    expect(receiver.connections()).toBe(3);
    await ask('two');
    expect(receiver.connections()).toBe(4);

    async function ask(name: string): Promise<void> {
      const answer = await poolOf(pools, name, receiver.port).request({
        path: '/',
        method: 'POST',
      });
      await answer.body.dump();
    }
  });

  test('end only after the answers that they wait for', async () => {
    const asked = Promise.withResolvers<() => void>();
    await using receiver = await startReceiver((request, response) => {
      asked.resolve(() => answerWith(200)(request, response));
    });
    await using pools = openPools(1);
    const oldest = poolOf(pools, 'one', receiver.port);
    const waiting = oldest.request({ path: '/', method: 'POST' });
    const answer = await asked.promise;
    poolOf(pools, 'two', receiver.port);
    expect(oldest.closed).toBe(true);
    answer();
    const { statusCode, body } = await waiting;
    expect([statusCode, await body.text()]).toEqual([200, '{}']);
    await eventually(() => expect(oldest.destroyed).toBe(true));
  });
});

test('a pool whose sockets have closed, or that never had one, is closed', async () => {
  const receiver = await startReceiver((request, response) => {
    answerWith(200, { connection: 'close' })(request, response);
  });
  await using pools = openPools(10);
  const request = { path: '/', method: 'POST' } as const;
  for (let count = 1; count <= 3; count += 1) {
    const answer = await poolOf(pools, 'one', receiver.port).request(request);
    await answer.body.dump();
    await eventually(() => expect(pools.count()).toBe(0));
    expect(receiver.connections()).toBe(count);
  }
  await receiver[Symbol.asyncDispose]();
  const refused = poolOf(pools, 'one', receiver.port).request(request);
  await expect(refused).rejects.toThrow('ECONNREFUSED');
  await eventually(() => expect(pools.count()).toBe(0));
});

function openPools(poolsMax: number) {
  return createConnectionPools({
    connectTimeoutMs: 1_000,
    openSocket: openVerifiedSocket,
    poolsMax,
  });
}

function poolOf(pools: ReturnType<typeof openPools>, name: string, port: number) {
  const url = new URL(`http://${name}.receiver.example.com/`);
  return pools.poolFor(url, { address: '127.0.0.1', port }, false);
}

/** One post after the other, each in its own interval but never at the same moment of it. */
async function postSteadily(exchange: Exchange, url: string): Promise<string[]> {
  const startMs = performance.now();
  const outcomes: string[] = [];
  while (outcomes.length < POSTS_PER_ORIGIN) {
    const dueMs = startMs + (outcomes.length + Math.random()) * INTERVAL_MS;
    const waitMs = Math.max(0, dueMs - performance.now());
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const result = await exchange.post({ url, headers: {}, body: Buffer.from('{}') });
    outcomes.push(result.error ?? 'succeeded');
  }
  return outcomes;
}
