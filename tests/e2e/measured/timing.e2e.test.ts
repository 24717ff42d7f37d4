import { randomInt, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { crc32 } from 'node:zlib';

import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { compareTimings, T_LIMIT } from '../../fuzz/compare-timings.ts';
import { measureInTurns, type TimedKind } from '../../fuzz/measure-in-turns.ts';
import { createPrincipals, type Principals } from '../../fuzz/principals.ts';
import { seededRandom } from '../../fuzz/seeded-random.ts';
import { sendRequest } from '../../fuzz/send-request.ts';
import { type Json, type Merchant, simulator, stack, waitUntilPaid } from '../mesh.ts';

/** More rounds tell a smaller difference from noise. */
const ROUNDS = scaled(50, 20_000);

const RUN_MS_MAX = scaled(180_000, 1_800_000);

/** Foreign resources and made-up keys of each kind: one alone would be read from the same hot page for ever. */
const FOREIGN = 16;

const SEED = testSeed();

const connection = new Agent({ keepAlive: true, maxSockets: 1 });

let principals: Principals;

beforeAll(async () => {
  principals = await createPrincipals();
});
afterAll(() => connection.destroy());

async function send(
  name: keyof typeof PUBLIC_ROUTES,
  call: { headers: readonly string[]; id?: string; body?: object },
): Promise<{ status: number; body: Json; durationMs: number }> {
  const { method, path } = PUBLIC_ROUTES[name];
  const json = call.body === undefined ? {} : { body: JSON.stringify(call.body) };
  const { status, text, durationMs } = await sendRequest({
    method,
    url: stack().gateway_url + path.replace(':id', call.id ?? ''),
    headers: [...call.headers, 'Idempotency-Key', randomUUID(), 'Content-Type', 'application/json'],
    agent: connection,
    ...json,
  });
  return { status, body: text === '' ? null : JSON.parse(text), durationMs };
}

/** Resources of an account, for others to guess at. */
async function createIds(
  tenant: Merchant,
  name: 'createCharge' | 'createPayout' | 'createWebhook',
  body: object,
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < FOREIGN; index += 1) {
    const answer = await send(name, { headers: ['x-api-key', tenant.key], body });
    expect([name, answer.status]).toEqual([name, 201]);
    ids.push(answer.body.id);
  }
  return ids;
}

/** Requests that all get the same answer and that nobody may tell apart by the time it takes. */
async function expectAlike(kinds: readonly TimedKind[]): Promise<void> {
  const unlike = await findUnlike(kinds, SEED);
  // Now and then chance makes a difference; a real one is found again.
  const again = unlike.length > 0 ? await findUnlike(kinds, SEED + 1) : [];
  expect(unlike.filter((name) => again.includes(name))).toEqual([]);
}

/** The kinds that take another time than the first. */
async function findUnlike(kinds: readonly TimedKind[], seed: number): Promise<string[]> {
  const times = await measureInTurns(kinds, { rounds: ROUNDS, random: seededRandom(seed) });
  const [first, ...others] = [...times];
  const unlike: string[] = [];
  for (const [name, sample] of others) {
    const { t, tRaw, differenceMs } = compareTimings(first?.[1] ?? [], sample);
    const figures = `t ${t.toFixed(2)} (untrimmed ${tRaw.toFixed(2)}), ${(differenceMs * 1_000).toFixed(0)} µs`;
    console.log(`${first?.[0]} against ${name}: ${figures}, ${ROUNDS} pairs, seed ${seed}`);
    if (!(Math.abs(t) < T_LIMIT)) unlike.push(name);
  }
  return unlike;
}

/** Lookups of one route by somebody else than the owner of `foreign`. */
function lookups(
  name: 'getCharge' | 'getPayout' | 'updateWebhook' | 'deleteWebhook',
  foreign: Record<string, readonly string[]>,
): TimedKind[] {
  const headers = ['x-api-key', principals.foreign.key];
  const lookUp = async (id: string): Promise<number> => {
    const body = name === 'updateWebhook' ? { body: {} } : {};
    const answer = await send(name, { headers, id, ...body });
    expect(answer.status).toBe(404);
    return answer.durationMs;
  };
  return [
    { name: `${name} of an unknown id`, send: () => lookUp(randomUUID()) },
    // Of the same length, and wrong in its last character only.
    { name: 'an ill-formed one', send: () => lookUp(`${randomUUID().slice(0, -1)}g`) },
    ...Object.entries(foreign).map(([kind, ids]) => ({
      name: kind,
      send: () => lookUp(ids[randomInt(ids.length)] ?? ''),
    })),
  ];
}

const A_CHARGE = {
  amount: 100_000,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
};

test(
  'the time of a 404 does not tell whether a charge exists',
  async () => {
    const ids = await createIds(principals.own, 'createCharge', A_CHARGE);
    await expectAlike(lookups('getCharge', { 'a foreign one': ids }));
  },
  RUN_MS_MAX,
);

test(
  'the time of a 404 does not tell whether a payout exists',
  async () => {
    const headers = ['x-api-key', principals.own.key];
    const { body } = await send('createCharge', { headers, body: A_CHARGE });
    await simulator.pay(body.id);
    await waitUntilPaid(principals.own, body.id);
    const payout = { amount: 500, pix_key_type: 'email', pix_key: 'joao@example.com' };
    const ids = await createIds(principals.own, 'createPayout', payout);
    await expectAlike(lookups('getPayout', { 'a foreign one': ids }));
  },
  RUN_MS_MAX,
);

test.each(['updateWebhook', 'deleteWebhook'] as const)(
  'the time of a 404 does not tell whether an endpoint exists: %s',
  async (name) => {
    const endpoint = {
      url: 'http://shop.receiver.example.com/timing',
      events: ['charge.pix.paid'],
    };
    const sibling = await createPrincipals();
    const ids = await createIds(sibling.own, 'createWebhook', endpoint);
    await expectAlike(lookups(name, { 'a foreign one': ids }));
  },
  RUN_MS_MAX,
);

test(
  'the time of a 401 does not tell whether a key exists or existed',
  async () => {
    const { own, strangers } = principals;
    const keysOf = (name: string) => strangers[name]?.slice(1) ?? [];
    // Made before anything is timed: to make a key up beside a request takes longer than what is looked for.
    const madeUp = (from: number) => Array.from({ length: FOREIGN }, () => otherKey(own.key, from));
    const refused = (name: string, keys: readonly string[]): TimedKind => ({
      name,
      send: async () => {
        const key = keys[randomInt(keys.length)] ?? '';
        const answer = await send('getAccount', { headers: ['x-api-key', key] });
        expect(answer.status).toBe(401);
        return answer.durationMs;
      },
    });
    await expectAlike([
      refused('a key of an unknown public id', madeUp(4)),
      refused('one of a known public id and another secret', madeUp(16)),
      ...['revoked', 'expired', 'suspended', 'of a deactivated application'].map((name) =>
        refused(`a key ${name}`, keysOf(name)),
      ),
      refused('a mistyped one', keysOf('with a mistyped key')),
    ]);
  },
  RUN_MS_MAX,
);

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

/** A well-formed key that equals this one up to a position and is made up after it, its checksum right. */
function otherKey(key: string, from: number): string {
  const length = key.length - CHECKSUM_LENGTH - from;
  const madeUp = Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length)));
  const unchecked = key.slice(0, from) + madeUp.join('');
  let checksum = '';
  for (let rest = crc32(unchecked); checksum.length < CHECKSUM_LENGTH;) {
    checksum = BASE62.charAt(rest % BASE62.length) + checksum;
    rest = Math.floor(rest / BASE62.length);
  }
  return unchecked + checksum;
}
