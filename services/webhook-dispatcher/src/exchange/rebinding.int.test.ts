import { answerInTurn, type DnsAnswer, startDnsServer } from '@pixmesh/testkit/dns-server';
import { startCanary } from '@pixmesh/testkit/canary';
import { buildConnector } from 'undici';
import { describe, expect, test } from 'vitest';

import { startReceiver } from '#test/start-receiver.ts';

import { createExchange, type ExchangeResult } from './exchange.ts';
import { createResolver } from './resolve-name.ts';

const PUBLIC = 'A 1.1.1.1';
const TIMEOUT_MS = 1_500;
const MANY = 100;
const manyPublic = Array.from({ length: MANY }, (_, index) => `A 1.1.1.${index}`);

describe('a name server that means harm', () => {
  test.each<[string, DnsAnswer, RegExp]>([
    ['a private address', ['A 127.0.0.1'], /^address_refused: 127\.0\.0\.1 /],
    ['a private IPv6 address', ['AAAA ::1'], /^address_refused: ::1 /],
    ['one private among the public ones', [PUBLIC, 'A 10.0.0.1'], /^address_refused: /],
    ['a private IPv6 beside a public IPv4', [PUBLIC, 'AAAA ::1'], /^address_refused: /],
    ['a private one among a hundred', [...manyPublic, 'A 192.168.1.1'], /^address_refused: /],
    ['a mapped loopback', ['AAAA ::ffff:127.0.0.1'], /^address_refused: /],
    ['an alias of a private name', ['CNAME private.example.net.'], /^address_refused: /],
    ['an alias of the own machine', ['CNAME localhost.'], /^address_refused: /],
    ['an alias in a circle', ['CNAME hostile.example.net.'], /^dns_failed: /],
    ['no address', [], /^dns_failed: no address/],
    ['that the name is unknown', 'NXDOMAIN', /^dns_failed: no address/],
    ['an error', 'SERVFAIL', /^dns_failed: ESERVFAIL/],
    ['nothing', 'TIMEOUT', /^(timeout|dns_failed): /],
  ])('answers %s: the attempt fails, and nothing is dialled', async (_name, answer, error) => {
    await using world = await openWorld({
      'hostile.example.net': [answer],
      'private.example.net': [['A 172.16.0.1']],
      localhost: [['A 127.0.0.1', 'AAAA ::1']],
    });
    const result = await world.post();
    expect(result).toMatchObject({ outcome: 'failed', status: null, address: null });
    expect(result.error).toMatch(error);
    expect(result.durationMs).toBeLessThan(TIMEOUT_MS + 500);
    expect(world.dialled).toEqual([]);
    expect(world.canary.connections()).toBe(0);
  });

  test('changes its answer between look-ups: each attempt dials only what its own look-up gave', async () => {
    await using world = await openWorld({
      'hostile.example.net': [[PUBLIC], ['A 127.0.0.1'], [PUBLIC], ['A 127.0.0.1']],
    });
    const outcomes = [];
    for (let attempt = 0; attempt < 4; attempt += 1) outcomes.push((await world.post()).outcome);
    expect(outcomes).toEqual(['succeeded', 'failed', 'succeeded', 'failed']);
    expect(new Set(world.dialled)).toEqual(new Set(['1.1.1.1']));
    expect(world.canary.connections()).toBe(0);
  });

  test('is asked once for each family and attempt, so it cannot answer the dialling otherwise', async () => {
    await using world = await openWorld({
      'hostile.example.net': [[PUBLIC], ['A 127.0.0.1']],
    });
    expect((await world.post()).outcome).toBe('succeeded');
    expect(world.questions.map(({ type }) => type).sort()).toEqual(['A', 'AAAA']);
    expect(world.dialled).toEqual(['1.1.1.1']);
  });

  test('gives a hundred public addresses: at most three are dialled', async () => {
    await using world = await openWorld(
      { 'hostile.example.net': [manyPublic] },
      { reachable: false },
    );
    expect(await world.post()).toMatchObject({ outcome: 'failed', reason: 'connect_failed' });
    expect(world.dialled).toHaveLength(3);
  });

  test('shuffles its addresses: the socket that is kept to one of them is used again', async () => {
    await using world = await openWorld({
      'hostile.example.net': [
        ['A 1.1.1.1', 'A 1.0.0.1'],
        ['A 1.0.0.1', 'A 1.1.1.1'],
        ['A 9.9.9.9', 'A 1.0.0.1', 'A 1.1.1.1'],
        ['A 9.9.9.9', 'A 1.0.0.1'],
      ],
    });
    for (let attempt = 0; attempt < 4; attempt += 1) await world.post();
    // The last answer no longer has the address of the kept socket.
    expect(world.dialled).toEqual(['1.1.1.1', '9.9.9.9']);
  });
});

type World = AsyncDisposable & {
  readonly dialled: string[];
  readonly questions: readonly { type: string }[];
  readonly canary: { connections(): number };
  post(): Promise<ExchangeResult>;
};

/** The real resolver on a name server of the test's own. Public addresses lead to a receiver, others to themselves. */
async function openWorld(
  script: Record<string, DnsAnswer[]>,
  { reachable } = { reachable: true },
): Promise<World> {
  const stack = new AsyncDisposableStack();
  const dns = stack.use(await startDnsServer(answerInTurn(script)));
  const receiver = stack.use(await startReceiver());
  const canary = stack.use(await startCanary());
  const dialled: string[] = [];
  const exchange = stack.use(
    createExchange({
      timeoutMs: TIMEOUT_MS,
      resolveName: createResolver([dns.address]),
      devReceivers: [],
      isForbiddenAddress: () => false,
      openSocket: (timeout) => {
        const connect = buildConnector({ timeout });
        return (options, callback) => {
          dialled.push(options.hostname);
          const port = String(reachable ? receiver.port : 1);
          connect({ ...options, hostname: '127.0.0.1', port }, callback);
        };
      },
    }),
  );
  const url = `http://hostile.example.net:${canary.port}/hook`;
  return {
    dialled,
    questions: dns.questions,
    canary,
    post: () => exchange.post({ url, headers: {}, body: Buffer.from('{}') }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
