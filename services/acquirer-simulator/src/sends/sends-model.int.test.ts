import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  aSend,
  journalOfSend,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

/** What an order must look like, kept by the simplest code that can know it. */
type Expected = {
  status: 'processing' | 'settled' | 'rejected';
  amountCents: bigint;
  returned: bigint[];
  kinds: string[];
};

type Step = { act: Act; order: number; cents: number };

const ACTS = ['send', 'repeat', 'settle', 'reject', 'turn', 'return'] as const;
type Act = (typeof ACTS)[number];

const RUNS = 12;
const STEPS_MAX = 25;

const steps = fc.array(
  fc.record({
    act: fc.constantFrom(...ACTS),
    order: fc.nat({ max: 3 }),
    cents: fc.integer({ min: 1, max: 900 }),
  }),
  { minLength: 5, maxLength: STEPS_MAX },
);

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  acquirer = simulator.client();
  const rules = [{ operation: 'settlePayout', fault: 'hang' }];
  await simulator.call('PUT', '/control/faults', { rules });
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function balance(): Promise<bigint> {
  const outcome = await acquirer.balance();
  if (outcome.kind !== 'found') throw new Error(`unexpected ${outcome.kind}`);
  return outcome.amountCents;
}

async function post(path: string, body?: object): Promise<number> {
  return (await simulator.call('POST', path, body)).status;
}

/** One step on both sides; what the simulator answers has to be what the model expects of it. */
async function take(step: Step, id: string, orders: Map<string, Expected>): Promise<void> {
  const path = `/control/sends/${id}`;
  const known = orders.get(id);
  switch (step.act) {
    case 'send':
    case 'repeat': {
      const amountCents = BigInt(step.cents);
      const outcome = await acquirer.sendPayout(aSend({ idEnvio: id, amountCents }));
      expect(outcome.kind).toBe(known === undefined ? 'accepted' : 'unknown');
      if (known !== undefined) return;
      orders.set(id, { status: 'processing', amountCents, returned: [], kinds: ['sent'] });
      return;
    }
    case 'settle':
      return end(known, 'settled', await post(`${path}/settle`));
    case 'reject':
      return end(known, 'rejected', await post(`${path}/reject`));
    case 'turn':
      return turn(known, await post(`${path}/contradict`, { status: 'REALIZADO' }));
    case 'return':
      return sendBack(
        known,
        step,
        await post(`/control/pix/${id}/returns`, { amount: step.cents }),
      );
  }
}

function end(known: Expected | undefined, status: 'settled' | 'rejected', answered: number): void {
  if (known === undefined) return expect(answered).toBe(404);
  const isOpen = known.status === 'processing';
  expect(answered).toBe(isOpen || known.status === status ? 200 : 409);
  if (!isOpen) return;
  known.status = status;
  known.kinds.push(status);
}

function turn(known: Expected | undefined, answered: number): void {
  if (known === undefined) return expect(answered).toBe(404);
  expect(answered).toBe(known.status === 'processing' ? 409 : 200);
  if (known.status !== 'rejected') return;
  known.status = 'settled';
  known.kinds.push('settled');
}

function sendBack(known: Expected | undefined, step: Step, answered: number): void {
  if (known === undefined) return expect(answered).toBe(404);
  const left = known.amountCents - sumOf(known.returned);
  const fits = known.status === 'settled' && BigInt(step.cents) <= left;
  expect(answered).toBe(fits ? 201 : 409);
  if (!fits) return;
  known.returned.push(BigInt(step.cents));
  known.kinds.push('returned');
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

describe('any sequence of orders, endings, contradictions and returns', () => {
  it('leaves what a model of it expects: state, returns, journal and balance', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const ids = Array.from({ length: 4 }, () => aSend().idEnvio);
        const orders = new Map<string, Expected>();
        const start = await balance();
        for (const step of sequence) await take(step, ids[step.order] ?? '', orders);
        for (const [id, expected] of orders) {
          expect(await acquirer.getPayout(id)).toMatchObject({
            kind: 'found',
            value: {
              idEnvio: id,
              status: expected.status,
              amountCents: expected.amountCents,
              returns: expected.returned.map((amountCents) => ({ amountCents })),
            },
          });
          const lines = await journalOfSend(simulator, id);
          expect(lines.map(({ kind }) => kind)).toEqual(expected.kinds);
        }
        const moved = [...orders.values()].map(({ status, amountCents, returned }) =>
          status === 'rejected' ? 0n : sumOf(returned) - amountCents,
        );
        expect((await balance()) - start).toBe(sumOf(moved));
      }),
      { numRuns: RUNS },
    );
  }, 60_000);
});
