import { setImmediate } from 'node:timers/promises';

import { type AccountId, type ApiKeyId, newId } from '@pixmesh/kernel/ids';
import type { RedisAddress } from '@pixmesh/service/redis-connection';
import type { Logger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { standStill } from '@pixmesh/testkit/stand-still';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { connectTestRedis, testRedis } from '@pixmesh/testkit/test-redis';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startPausableProxy } from '#test/pausable-proxy.ts';

import { limitsOf, type CountedLimits } from './limits-of.ts';
import { createRedisCounts } from './redis-counts.ts';
import { type Admission, RequestCounters } from './request-counters.ts';

/** Above what a few requests may wait for their counts, on a busy machine. */
const WAIT_MS_MAX = 1_500;
/** A busy machine is no outage of Redis. */
const PATIENT_MS = 30_000;

/** So long that a pause of the process does not outlast what is left of it at a renewal. */
const LEASE_MS = 3_000;

/** A turn of the event loop, longer than Redis is waited for. */
const BUSY_MS = 1_000;

const UNAVAILABLE = 'limits: redis unavailable, each gateway counts by itself';
const AVAILABLE = 'limits: redis available';

const lines: string[] = [];
const logger = {
  warn: (_fields: object, line: string) => lines.push(line),
  error: (_fields: object, line: string) => lines.push(line),
  info: (line: string) => lines.push(line),
} as unknown as Logger;

type Options = { address?: RedisAddress; leaseMs?: number; timeoutMs?: number };

/** As one process of the gateway has them. */
function startCounters(options: Options = {}): RequestCounters {
  const { address = testRedis('gateway'), leaseMs = 60_000, timeoutMs = PATIENT_MS } = options;
  const redis = createRedisCounts({ ...address, leaseMs, logger });
  return new RequestCounters({ redis, logger, timeoutMs });
}

/** Counters that are connected: until then a process counts by itself. */
async function startConnected(options: Options = {}): Promise<RequestCounters> {
  const counters = startCounters(options);
  await eventually(async () => {
    expect(
      await counters.used({ windows: [`pixmesh:minute:${newId()}`], flights: [] }),
    ).toMatchObject({
      isShared: true,
    });
  });
  return counters;
}

let one: RequestCounters;
let two: RequestCounters;

beforeAll(async () => {
  [one, two] = await Promise.all([startConnected(), startConnected()]);
});
afterAll(async () => {
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});

const perWindow = (max: number, windowMs = 600_000): CountedLimits => ({
  windows: [{ counter: `pixmesh:minute:${newId()}`, max, windowMs, refusal: 'rate' }],
  flights: [],
  inFlight: [],
});

function atOnce(max: number): CountedLimits {
  const counter = `pixmesh:in-flight:${newId()}`;
  return { windows: [], flights: [{ counter, max, refusal: 'flight' }], inFlight: [counter] };
}

function admitted(admission: Admission): Extract<Admission, { kind: 'admitted' }> {
  if (admission.kind === 'admitted') return admission;
  throw new Error(admission.refusal);
}

test('a window begins anew when it has passed', async () => {
  const limits = perWindow(1, 1_000);
  admitted(await one.admit(limits));
  await eventually(async () => {
    admitted(await one.admit(limits));
  });
});

test('a window whose length was changed begins anew', async () => {
  const none = { requests_per_minute_max: null, requests_in_flight_max: null };
  const caller = {
    accountId: newId<AccountId>(),
    keyId: newId<ApiKeyId>(),
    limits: { account: none, key: none },
  };
  const [long, short] = [600_000, 1_000].map((windowMs) => limitsOf(caller, { max: 1, windowMs }));
  admitted(await one.admit(long!));
  expect(await one.admit(long!)).toMatchObject({ kind: 'exceeded' });
  admitted(await one.admit(short!));
});

test('of many requests at two gateways exactly as many pass as a window allows', async () => {
  const limits = perWindow(20);
  const asked = Array.from({ length: 60 }, (_, place) => (place % 2 ? one : two).admit(limits));
  const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(20);
});

test('a place in flight is free again when its request ends, at every gateway', async () => {
  const limits = atOnce(2);
  const first = admitted(await one.admit(limits));
  admitted(await two.admit(limits));
  expect(await one.admit(limits)).toEqual({
    kind: 'exceeded',
    refusal: 'flight',
    retryAfterMs: 1_000,
  });
  first.end();
  await eventually(async () => {
    admitted(await two.admit(limits));
  });
});

test('what is refused by one limit is counted by none', async () => {
  const wide = { ...atOnce(9), windows: perWindow(9).windows };
  const limits = { ...wide, windows: [...wide.windows, ...perWindow(1).windows] };
  admitted(await one.admit(limits)).end();
  for (let count = 0; count < 3; count += 1) {
    expect(await one.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'rate' });
  }
  const names = (of: readonly { counter: string }[]) => of.map(({ counter }) => counter);
  const asked = { windows: names(wide.windows), flights: names(wide.flights) };
  await eventually(async () => {
    expect(await one.used(asked)).toMatchObject({ isShared: true, windows: [1], flights: [0] });
  });
});

test('a gateway that was killed holds its places no longer than their lease', async () => {
  const limits = atOnce(1);
  const killed = await startConnected({ leaseMs: 1_500 });
  admitted(await killed.admit(limits));
  await killed[Symbol.asyncDispose]();
  const redis = await connectTestRedis();
  try {
    await eventually(async () => {
      admitted(await one.admit(limits)).end();
    });
    await eventually(async () => {
      expect(await redis.exists(String(limits.flights[0]?.counter))).toBe(0);
    });
  } finally {
    redis.destroy();
  }
});

test('a gateway that lives holds its places for longer than their lease', async () => {
  const limits = atOnce(1);
  await using counters = await startConnected({ leaseMs: LEASE_MS });
  const request = admitted(await counters.admit(limits));
  const redis = await connectTestRedis();
  const endMs = async () => {
    const [member] = await redis.zRangeWithScores(String(limits.flights[0]?.counter), 0, -1);
    return member?.score ?? Number.NaN;
  };
  try {
    const firstMs = await endMs();
    await eventually(async () => expect(await endMs()).toBeGreaterThan(firstMs + LEASE_MS));
    expect(await one.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'flight' });
    request.end();
    await eventually(async () => admitted(await one.admit(limits)).end());
  } finally {
    redis.destroy();
  }
});

test('what gateways have in flight when a limit is set counts at each from its next request on', async () => {
  const limits = atOnce(7);
  const unlimited = { ...limits, flights: [] };
  for (let count = 0; count < 3; count += 1) {
    admitted(await one.admit(unlimited));
    admitted(await two.admit(unlimited));
  }
  const fourth = admitted(await one.admit(limits));
  expect(await two.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'flight' });
  expect(await one.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'flight' });
  fourth.end();
  await eventually(async () => admitted(await two.admit(limits)).end());
});

test('thousands of requests in one turn of a gateway are all counted with the others', async () => {
  lines.length = 0;
  const limits = perWindow(600);
  const asked = Array.from({ length: 3_000 }, () => one.admit(limits));
  const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(600);
  expect(lines).toEqual([]);
});

test(
  'places of requests that ended while Redis was away are free once it is back',
  { timeout: 60_000 },
  async () => {
    const { hostname: host, port } = new URL(testInfra().redis.urls.gateway);
    await using proxy = await startPausableProxy({ host, port: Number(port) });
    await using counters = await startConnected({ address: testRedis('gateway', proxy.port) });
    const limits = atOnce(4);
    const requests = await Promise.all([1, 2, 3, 4].map(() => counters.admit(limits)));
    const ends = requests.map((admission) => admitted(admission).end);
    const inFlight = { windows: [], flights: [String(limits.flights[0]?.counter)] };
    proxy.cut();
    // By a connection that is cut, and then without one.
    for (const end of ends.splice(0, 2)) end();
    await eventually(async () => {
      expect(await counters.used(inFlight)).toMatchObject({ isShared: false });
    });
    for (const end of ends) end();
    expect(await one.used(inFlight)).toMatchObject({ isShared: true, flights: [4] });
    proxy.resume();
    await eventually(async () => {
      expect(await one.used(inFlight)).toMatchObject({ isShared: true, flights: [0] });
    }, 20_000);
  },
);

test('nothing stays in Redis for longer than a window or a lease', async () => {
  const limits = { ...atOnce(5), windows: perWindow(5, 30_000).windows };
  admitted(await one.admit(limits));
  const redis = await connectTestRedis();
  try {
    for (const { counter } of [...limits.windows, ...limits.flights]) {
      const lifetime = await redis.ttl(counter);
      expect(lifetime).toBeGreaterThan(0);
      expect(lifetime).toBeLessThanOrEqual(60);
    }
  } finally {
    redis.destroy();
  }
});

test('where the clock of Redis was set back, a window lasts no longer than its length, and a place than its lease', async () => {
  const hourMs = 3_600_000;
  const limits = { ...atOnce(1), windows: perWindow(1).windows };
  const [window] = limits.windows.map(({ counter }) => counter);
  const flights = limits.flights.map(({ counter }) => counter);
  const redis = await connectTestRedis();
  try {
    await redis.zAdd(String(flights[0]), { score: Date.now() + hourMs, value: newId() });
    expect(await one.used({ windows: [], flights })).toMatchObject({
      isShared: true,
      flights: [0],
    });
    admitted(await one.admit(limits));
    expect(await redis.zCard(String(flights[0]))).toBe(1);
    expect(await redis.pExpire(String(window), hourMs)).toBe(1);
    expect(await two.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'rate' });
    expect(await redis.pTTL(String(window))).toBeLessThanOrEqual(600_000);
  } finally {
    redis.destroy();
  }
});

test('without Redis each gateway goes by what it has let pass itself, and says so once', async () => {
  lines.length = 0;
  await using alone = startCounters({ address: { url: 'redis://127.0.0.1:1' } });
  await using besides = startCounters({ address: { url: 'redis://127.0.0.1:1' } });
  const limits = { ...atOnce(2), windows: perWindow(3).windows };
  for (const counters of [alone, besides]) {
    admitted(await counters.admit(limits)).end();
    const second = admitted(await counters.admit(limits));
    admitted(await counters.admit(limits));
    expect(await counters.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'rate' });
    second.end();
  }
  expect(lines).toEqual([UNAVAILABLE, UNAVAILABLE]);
});

test('a Redis that refuses the password is like one that is away, but that is an error in the log', async () => {
  lines.length = 0;
  const { url, ca } = testRedis('gateway');
  const forged = new URL(url);
  forged.password = 'an-old-one';
  await using counters = startCounters({ address: { url: forged.href, ca } });
  const limits = perWindow(2);
  for (let count = 0; count < 2; count += 1) admitted(await counters.admit(limits)).end();
  expect(await counters.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'rate' });
  await eventually(() => {
    expect(lines).toEqual([UNAVAILABLE, 'redis refused: check the user of REDIS_URL']);
  });
});

test(
  'while Redis answers nothing, requests wait for it once, and what other gateways count is no matter',
  { timeout: 30_000 },
  async () => {
    const { hostname: host, port } = new URL(testInfra().redis.urls.gateway);
    await using proxy = await startPausableProxy({ host, port: Number(port) });
    await using counters = await startConnected({
      address: testRedis('gateway', proxy.port),
      timeoutMs: 50,
    });
    const limits = perWindow(50);
    for (let count = 0; count < 50; count += 1) admitted(await one.admit(limits));
    await eventually(async () => {
      expect(await counters.admit(limits)).toMatchObject({ kind: 'exceeded' });
    });
    lines.length = 0;
    proxy.pause();
    const begunMs = performance.now();
    for (let count = 0; count < 40; count += 1) admitted(await counters.admit(limits));
    expect(performance.now() - begunMs).toBeLessThan(WAIT_MS_MAX);
    expect(lines).toEqual([UNAVAILABLE]);
    proxy.resume();
    await eventually(async () => {
      expect(await counters.admit(limits)).toMatchObject({ kind: 'exceeded' });
      expect(lines.slice(0, 2)).toEqual([UNAVAILABLE, AVAILABLE]);
    });
  },
);

test.each([
  ['before the question is sent', () => Promise.resolve()],
  ['before the answer is read', setImmediate],
])('a gateway that is busy %s still counts with the others', async (_when, until) => {
  await using counters = await startConnected({ timeoutMs: BUSY_MS / 2 });
  const limits = perWindow(9);
  lines.length = 0;
  const asked = counters.admit(limits);
  await until();
  standStill(BUSY_MS);
  admitted(await asked);
  expect(lines).toEqual([]);
  const windows = limits.windows.map(({ counter }) => counter);
  expect(await one.used({ windows, flights: [] })).toMatchObject({ windows: [1] });
});

test('counters that cannot be read in time are no reason to count requests alone', async () => {
  const { hostname: host, port } = new URL(testInfra().redis.urls.gateway);
  await using proxy = await startPausableProxy({ host, port: Number(port) });
  const address = testRedis('gateway', proxy.port);
  await using counters = await startConnected({ address, timeoutMs: BUSY_MS });
  const limits = perWindow(1);
  const windows = limits.windows.map(({ counter }) => counter);
  admitted(await one.admit(limits));
  lines.length = 0;
  proxy.pause();
  expect(await counters.used({ windows, flights: [] })).toMatchObject({ isShared: false });
  proxy.resume();
  expect(await counters.admit(limits)).toMatchObject({ kind: 'exceeded' });
  expect(lines).toEqual([]);
});

test(
  'a request that is refused while Redis is slow holds no place once Redis has read it',
  { timeout: 30_000 },
  async () => {
    const { hostname: host, port } = new URL(testInfra().redis.urls.gateway);
    await using proxy = await startPausableProxy({ host, port: Number(port) });
    await using counters = await startConnected({
      address: testRedis('gateway', proxy.port),
      timeoutMs: 250,
    });
    const limits = { ...atOnce(1), windows: perWindow(1).windows };
    const [window] = limits.windows.map(({ counter }) => counter);
    const [flight] = limits.flights.map(({ counter }) => counter);
    const redis = await connectTestRedis();
    try {
      admitted(await counters.admit(limits)).end();
      // The window of Redis may end before that of a gateway.
      await redis.del(String(window));
      proxy.pause();
      expect(await counters.admit(limits)).toMatchObject({ kind: 'exceeded', refusal: 'rate' });
      proxy.resume();
      await eventually(async () => {
        expect(await redis.get(String(window))).toBe('1');
        expect(await redis.zCard(String(flight))).toBe(0);
      });
    } finally {
      redis.destroy();
    }
  },
);
