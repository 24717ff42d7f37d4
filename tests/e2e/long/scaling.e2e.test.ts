import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { requestScale } from '@pixmesh/local-stack/mesh/control-client';
import { eventually } from '@pixmesh/testkit/eventually';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { seededRandom } from '../../fuzz/seeded-random.ts';
import { busyShare } from '../../runs/busy-share.ts';
import { createClientHistory } from '../client-history.ts';
import { findBreaks } from '../find-breaks.ts';
import { findViolations } from '../find-violations.ts';
import { admin, received, v1 } from '../mesh.ts';
import { bootOwnStack } from '../own-stack.ts';
import { aPayingMerchant, COST_CENTS } from '../payout-calls.ts';
import { type Act, actAtRandom, type ActName, PLANNED, SERVICES } from './random-acts.ts';
import { quantileMs, startTimedLoad, type TimedCall } from './timed-load.ts';

/** How long the random acts go on; shorter while something is tried out. */
const ACTS_MS = Number(process.env['PIXMESH_SCALING_SECONDS'] ?? 600) * 1_000;
const ACT_EVERY_MS = 5_000;
const PAUSE_PLANNED_MS_MAX = 3_000;
const PAUSE_MS_MAX = 15_000;
/** Of the longest pauses, those that are printed with what was done beside them. */
const PAUSES_SHOWN = 5;
/** A kill is seen by those whose calls were in the hands of the process. */
const KILL_SEEN_MS = 1_000;
/** The calls that a process of each service may hold. A dispatcher holds none: it delivers what others have stored. */
const CALLS_HELD = new Map<string, readonly TimedCall['kind'][]>([
  ['gateway', ['payout', 'charge', 'balance', 'list of payouts']],
  ['charges', ['charge']],
  ['payouts', ['payout', 'list of payouts']],
  ['ledger', ['payout', 'balance']],
]);
/** A gateway repeats them at another process when one of an owner does not answer. */
const READS: ReadonlySet<TimedCall['kind']> = new Set(['balance', 'list of payouts']);
const PAYERS = 4;
const FUNDED_PAYOUTS = 20_000;
const REST_MS_MAX = 180_000;
/** New processes are slow until their code is compiled. */
const WARM_UP = { paceMs: 1_000, forMs: 90_000 };
/** So little that twenty processes, on two cores with all else, leave some of the machine idle. */
const STEADY = { paceMs: 2_000, forMs: 60_000 };
/** Of the p50 of each kind of call: twenty processes share the cores of a small machine with the clients. */
const SLOWER_MS_MAX = 15;
const TEST_MS_MAX = 2 * ACTS_MS + 900_000;

const home = bootOwnStack('scaling', {}, ['--scale', SERVICES.map((name) => `${name}=2`).join()]);

test(
  'processes started and stopped at random under load: no call fails, and deliveries pause for 3 s at most',
  async () => {
    const { acts, calls, longestMs } = await actUnderLoad(PLANNED);
    expect(failed(calls)).toEqual([]);
    expect(acts.length).toBeGreaterThan(0);
    expect(longestMs).toBeLessThanOrEqual(PAUSE_PLANNED_MS_MAX);
  },
  TEST_MS_MAX,
);

test(
  'processes started, stopped, killed and frozen at random under load: only what they held is cut off, and deliveries pause for 15 s at most',
  async () => {
    const { acts, calls, longestMs } = await actUnderLoad([...PLANNED, 'kill', 'freeze']);
    const cutOff = failed(calls).filter((call) => acts.some((act) => mayCutOff(act, call)));
    console.log(`${cutOff.length} calls cut off by kills and freezes`);
    expect(failed(calls).filter((call) => !cutOff.includes(call))).toEqual([]);
    expect(longestMs).toBeLessThanOrEqual(PAUSE_MS_MAX);
  },
  TEST_MS_MAX,
);

test(
  'one, two and four processes of every service under the same light load: exact, and none slower than one',
  async () => {
    const ofOne = new Map<TimedCall['kind'], number>();
    for (const count of [1, 2, 4]) {
      await requestScale(home, new Map(SERVICES.map((name) => [name, count])));
      console.log(`${count} of every service:`);
      await underLoad(() => delay(WARM_UP.forMs), WARM_UP.paceMs);
      const { calls, during } = await underLoad(
        () => busyShare(delay(STEADY.forMs)),
        STEADY.paceMs,
      );
      console.log(`the machine ${(during.share * 100).toFixed(0)} % busy`);
      expect(failed(calls)).toEqual([]);
      for (const [kind, own] of Map.groupBy(calls, (call) => call.kind)) {
        const ms = quantileMs(own, 0.5);
        if (count === 1) ofOne.set(kind, ms);
        expect(ms).toBeLessThanOrEqual((ofOne.get(kind) ?? 0) + SLOWER_MS_MAX);
      }
    }
  },
  TEST_MS_MAX,
);

async function actUnderLoad(acts: readonly ActName[]) {
  const random = seededRandom(testSeed());
  const plan = { home, acts, everyMs: ACT_EVERY_MS, forMs: ACTS_MS, random };
  const { during, pauses, calls } = await underLoad(() => actAtRandom(plan));
  for (const { what, name, fromMs, toMs } of during) {
    const meanwhile = calls.filter(({ endMs }) => endMs >= fromMs && endMs <= toMs);
    console.log(`${what} ${name}: ${toMs - fromMs} ms, ${failed(meanwhile).length} calls failed`);
  }
  for (const { ms, storedMs, fromMs } of pauses.slice(0, PAUSES_SHOWN)) {
    const beside = during.filter((act) => act.fromMs <= fromMs + ms && act.toMs >= fromMs);
    const acts = beside.map(
      ({ what, name, ...act }) => `${what} ${name} (${fromMs - act.fromMs} ms before)`,
    );
    console.log(`pause of ${ms} ms, ${storedMs} of them until stored, beside ${acts.join(', ')}`);
  }
  return { acts: during, calls, longestMs: pauses[0]?.ms ?? 0 };
}

/** Load around some work, and everything that has to hold when it has come to rest. */
async function underLoad<T>(work: () => Promise<T>, paceMs?: number) {
  const history = createClientHistory();
  const hookPath = `/${randomUUID()}`;
  const funds = FUNDED_PAYOUTS * COST_CENTS;
  const payers = await Promise.all(Array.from({ length: PAYERS }, () => aPayingMerchant(funds)));
  const startMs = Date.now();
  const load = startTimedLoad({ history, payers, hookPath, ...(paceMs && { paceMs }) });
  const during = await work();
  await load.stop();
  const { calls } = load;
  const forMs = Date.now() - startMs;
  const pauses = await eventually(async () => {
    const found = await pausesOf(calls, hookPath);
    expect(found.filter(({ ms }) => ms === Infinity)).toEqual([]);
    return found;
  }, REST_MS_MAX);
  console.log(`${describe(calls, forMs)}, longest pause of deliveries ${pauses[0]?.ms} ms`);
  await eventually(async () => {
    for (const payer of payers) {
      const open = await v1(payer, 'GET /payouts?status=processing&limit=1');
      expect(open.body.data).toEqual([]);
    }
    expect(await findViolations(history, { hookPath })).toEqual([]);
    expect(await findBreaks()).toEqual([]);
  }, REST_MS_MAX);
  expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
  return { during, calls, pauses };
}

/** From a payout's answer to its first delivery, and of that, until the dispatcher had stored the delivery. */
type Pause = { ms: number; storedMs: number; fromMs: number };

/** The longest first. */
async function pausesOf(calls: readonly TimedCall[], hookPath: string): Promise<Pause[]> {
  const first = new Map<string, { storedAt: number; receivedAt: number }>();
  for (const { body_base64, received_at } of await received(hookPath)) {
    const { created_at, data } = JSON.parse(Buffer.from(body_base64, 'base64').toString());
    if (first.has(data.id)) continue;
    first.set(data.id, { storedAt: Date.parse(created_at), receivedAt: Date.parse(received_at) });
  }
  const pauses = answersOf(calls).map(({ id, endMs }) => {
    const { storedAt, receivedAt } = first.get(id) ?? { storedAt: Infinity, receivedAt: Infinity };
    return { ms: receivedAt - endMs, storedMs: storedAt - endMs, fromMs: endMs };
  });
  return pauses.sort((a, b) => b.ms - a.ms);
}

function answersOf(calls: readonly TimedCall[]): TimedCall[] {
  return calls.filter(({ kind, status }) => kind === 'payout' && status === 201);
}

function failed(calls: readonly TimedCall[]): TimedCall[] {
  return calls.filter(({ status }) => status === null || status >= 400);
}

/** Whether the process could have held the call while it was killed or stood still. */
function mayCutOff(
  { what, service, fromMs, toMs }: Act,
  { kind, startMs, endMs }: TimedCall,
): boolean {
  if (!CALLS_HELD.get(service)?.includes(kind)) return false;
  if (what === 'freeze') {
    const isRepeated = service !== 'gateway' && READS.has(kind);
    return !isRepeated && startMs <= toMs && endMs >= fromMs;
  }
  return what === 'kill' && startMs <= fromMs + KILL_SEEN_MS && endMs >= fromMs;
}

function describe(calls: readonly TimedCall[], forMs: number): string {
  const kinds = Map.groupBy(calls, ({ kind }) => kind);
  const parts = [...kinds].map(([kind, own]) => {
    const perSecond = (own.length / (forMs / 1_000)).toFixed(1);
    return `${kind} ${perSecond}/s p50 ${quantileMs(own, 0.5)} ms p99 ${quantileMs(own, 0.99)} ms`;
  });
  return `${parts.join(', ')}, ${failed(calls).length} failed`;
}
