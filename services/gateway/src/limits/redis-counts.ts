import {
  createRefusalReport,
  observeRedis,
  type RedisAddress,
  redisOptions,
} from '@pixmesh/service/redis-connection';
import type { Logger } from '@pixmesh/telemetry/logger';
import { createClient, defineScript } from 'redis';

import { createReleases } from './release-in-flight.ts';
import type { CountedLimits } from './limits-of.ts';
import { FLIGHT_RETRY_MS, type Verdict, WITHIN } from './local-counts.ts';

/** Commands that wait for their answer: one for each connection that a gateway may have. */
const COMMANDS_WAITING_MAX = 10_000;

/**
 * Checks a request against all its limits and counts it in all of them, or, where one is exceeded, in none. Requests in
 * flight are members of a sorted set that end by themselves when their lease does, so a process that was killed leaves
 * nothing for longer; one that lives renews them. Ends are stored as times of Redis's clock: where that was set back, a
 * window is shortened to its length, and a request that would outlast its lease is dropped until it is renewed. KEYS:
 * windows, then sets of requests in flight. ARGV: number of windows, `max` and length of each; lease, id of the request,
 * `max` of each set. Answers the position of what is exceeded, from 1, and the milliseconds until its window ends; or 0.
 */
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local windows = tonumber(ARGV[1])
for i = 1, windows do
  local length = tonumber(ARGV[2 * i + 1])
  if redis.call('PTTL', KEYS[i]) > length then redis.call('PEXPIRE', KEYS[i], length) end
  local used = tonumber(redis.call('GET', KEYS[i]) or '0')
  if used >= tonumber(ARGV[2 * i]) then return {i, math.max(redis.call('PTTL', KEYS[i]), 0)} end
end
local lease = tonumber(ARGV[2 * windows + 2])
for i = windows + 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '(' .. now + lease, '+inf')
  if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[windows + 3 + i]) then return {i, 0} end
end
for i = 1, windows do
  if redis.call('INCR', KEYS[i]) == 1 then redis.call('PEXPIRE', KEYS[i], ARGV[2 * i + 1]) end
end
for i = windows + 1, #KEYS do
  redis.call('ZADD', KEYS[i], now + lease, ARGV[2 * windows + 3])
  redis.call('PEXPIRE', KEYS[i], lease)
end
return {0, 0}`;

/** Adds requests in flight, or renews them. KEYS: their set. ARGV: lease, then ids. */
const HOLD = `
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], ends, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])`;

/** Counts requests in flight as a request is counted with them. KEYS: their set. ARGV: lease. */
const COUNT_IN_FLIGHT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZCOUNT', KEYS[1], now, now + tonumber(ARGV[1]))`;

const ADMIT_SCRIPT = defineScript({
  SCRIPT: ADMIT,
  parseCommand(parser, counters: string[], values: (string | number)[]) {
    parser.push(String(counters.length));
    parser.pushKeys(counters);
    parser.push(...values.map(String));
  },
  transformReply: ([position, windowLeftMs]: [number, number]) => ({ position, windowLeftMs }),
});

const HOLD_SCRIPT = defineScript({
  SCRIPT: HOLD,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, counter: string, values: (string | number)[]) {
    parser.pushKey(counter);
    parser.push(...values.map(String));
  },
  transformReply: (reply: null) => reply,
});

const COUNT_SCRIPT = defineScript({
  SCRIPT: COUNT_IN_FLIGHT,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, counter: string, leaseMs: number) {
    parser.pushKey(counter);
    parser.push(String(leaseMs));
  },
  transformReply: (reply: number) => reply,
});

type CountsOptions = RedisAddress & { leaseMs: number; logger: Logger };

/**
 * What all gateways have let pass together. Every call fails where Redis gives no answer, and none waits for a
 * connection.
 */
export type RedisCounts = ReturnType<typeof createRedisCounts>;

export function createRedisCounts({ leaseMs, logger, ...address }: CountsOptions) {
  const client = connect(address, logger);
  const releases = createReleases(leaseMs, (counter, ids) => client.zRem(counter, ids));
  client.on('ready', releases.retry);
  return {
    async admit({ windows, flights }: CountedLimits, requestId: string): Promise<Verdict> {
      const { position, windowLeftMs } = await client.admitRequest(
        [...windows, ...flights].map(({ counter }) => counter),
        [
          windows.length,
          ...windows.flatMap(({ max, windowMs }) => [max, windowMs]),
          leaseMs,
          requestId,
          ...flights.map(({ max }) => max),
        ],
      );
      const exceeded = [...windows, ...flights][position - 1];
      if (exceeded === undefined) return WITHIN;
      const retryAfterMs = position > windows.length ? FLIGHT_RETRY_MS : windowLeftMs;
      return { kind: 'exceeded', refusal: exceeded.refusal, retryAfterMs };
    },
    leaseMs,
    hold: (counter: string, requestIds: string[]) =>
      client.holdInFlight(counter, [leaseMs, ...requestIds]),
    /** Not waited for: during an outage it is done later. */
    end(counters: readonly string[], requestId: string): void {
      for (const counter of counters) releases.release(counter, requestId);
    },
    inWindow: async (counter: string): Promise<number> => Number((await client.get(counter)) ?? 0),
    inFlight: (counter: string): Promise<number> => client.countInFlight(counter, leaseMs),
    [Symbol.asyncDispose]: async () => client.destroy(),
  };
}

/** Connects in the background and for ever. */
function connect(address: RedisAddress, logger: Logger) {
  const client = createClient({
    ...redisOptions(address),
    scripts: {
      admitRequest: ADMIT_SCRIPT,
      holdInFlight: HOLD_SCRIPT,
      countInFlight: COUNT_SCRIPT,
    },
    disableOfflineQueue: true,
    commandsQueueMaxLength: COMMANDS_WAITING_MAX,
  });
  // Requests report an outage, but not that it is a refusal: nothing they ask gets that far.
  const refusals = createRefusalReport(logger);
  observeRedis(client);
  client.on('error', refusals.note);
  client.on('ready', refusals.accepted);
  void client.connect().catch(() => undefined);
  return client;
}
