import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  aPaidCharge,
  journalOfPix,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

type DisputeStatus = 'open' | 'under_review' | 'accepted' | 'rejected' | 'canceled';

/** What a Pix must look like, kept by the simplest code that can know it. */
type Expected = {
  endToEndId: string;
  returns: Map<string, { cents: number; nature: string; status: 'processing' | 'returned' }>;
  disputes: { id: string; cents: number; status: DisputeStatus; returned: number }[];
  /** Sorted, since what ends at once may be written down in either order. */
  journal: string[];
};

const ACTS = [
  'refund',
  'repeat',
  'return',
  'open',
  'arrive',
  'defend',
  'win',
  'lose',
  'withdraw',
] as const;
type Step = { act: (typeof ACTS)[number]; pix: number; cents: number; partial: boolean };

const PIX_CENTS = 1_000;
const RUNS = 12;
const STEPS_MAX = 25;

const steps = fc.array(
  fc.record({
    act: fc.constantFrom(...ACTS),
    pix: fc.nat({ max: 1 }),
    cents: fc.integer({ min: 1, max: 700 }),
    partial: fc.boolean(),
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

async function post(path: string, body?: object) {
  return await simulator.call('POST', path, body);
}

function leftOf(pix: Expected): number {
  return [...pix.returns.values()].reduce((left, { cents }) => left - cents, PIX_CENTS);
}

function openOf(pix: Expected) {
  return pix.disputes.find(({ status }) => status === 'open' || status === 'under_review');
}

/** One step on both sides; what the simulator answers has to be what the model expects of it. */
async function take(step: Step, pix: Expected): Promise<void> {
  switch (step.act) {
    case 'refund':
    case 'repeat':
      return await refund(step, pix);
    case 'return':
      return await sendBack(step, pix);
    case 'open':
    case 'arrive':
      return await open(step, pix);
    case 'defend':
      return await defend(pix);
    case 'win':
      return await decide(pix, { outcome: 'won' });
    case 'lose':
      return await decide(pix, {
        outcome: 'lost',
        ...(step.partial && { returned_amount: step.cents }),
      });
    case 'withdraw':
      return await withdraw(pix);
  }
}

async function refund(step: Step, pix: Expected): Promise<void> {
  const [last] = [...pix.returns.keys()].filter((id) => id.startsWith('ours')).slice(-1);
  const isRepeat = step.act === 'repeat' && last !== undefined;
  const refundId = isRepeat ? last : `ours${pix.returns.size}x${pix.journal.length}`;
  const { endToEndId } = pix;
  const outcome = await acquirer.refund({ endToEndId, refundId, amountCents: BigInt(step.cents) });
  const fits = step.cents <= leftOf(pix);
  if (isRepeat) return expect(outcome.kind).toBe('unknown');
  expect(outcome.kind).toBe(fits ? 'accepted' : 'refused');
  pix.journal.push(fits ? `returned ${step.cents} ORIGINAL` : `refused ${step.cents} null`);
  if (fits) {
    pix.returns.set(refundId, { cents: step.cents, nature: 'ORIGINAL', status: 'returned' });
  }
}

async function sendBack(step: Step, pix: Expected): Promise<void> {
  const natureza = step.partial ? 'MED_FRAUDE' : 'ORIGINAL';
  const path = `/control/pix/${pix.endToEndId}/returns`;
  const answer = await post(path, { amount: step.cents, natureza });
  const fits = step.cents <= leftOf(pix);
  expect(answer.status).toBe(fits ? 201 : 409);
  if (!fits) return;
  pix.journal.push(`returned ${step.cents} ${natureza}`);
  const id = String(answer.body['id']);
  pix.returns.set(id, { cents: step.cents, nature: natureza, status: 'returned' });
}

async function open(step: Step, pix: Expected): Promise<void> {
  const { endToEndId } = pix;
  const body = { end_to_end_id: endToEndId, amount: step.cents, reason: 'operational_flaw' };
  const isLost = step.act === 'arrive';
  const answer = await post('/control/disputes', { ...body, ...(isLost && { status: 'lost' }) });
  expect(answer.status).toBe(openOf(pix) ? 409 : 201);
  if (openOf(pix)) return;
  const id = String(answer.body['id']);
  const dispute = { id, cents: step.cents, status: 'open' as const, returned: 0 };
  pix.disputes.push(dispute);
  pix.journal.push(`dispute_opened ${step.cents} null`);
  if (isLost) await lose(pix, dispute, step.cents);
  expect(answer.body['returned_amount']).toBe(dispute.returned);
}

async function lose(
  pix: Expected,
  dispute: { id: string; cents: number; status: DisputeStatus; returned: number },
  asked: number,
): Promise<void> {
  dispute.status = 'accepted';
  pix.journal.push(`dispute_decided ${dispute.cents} MED_OPERACIONAL`);
  dispute.returned = Math.min(asked, dispute.cents, leftOf(pix));
  if (dispute.returned === 0) return;
  pix.journal.push(`returned ${dispute.returned} MED_OPERACIONAL`);
  const status = 'returned' as const;
  pix.returns.set(dispute.id, { cents: dispute.returned, nature: 'MED_OPERACIONAL', status });
}

async function defend(pix: Expected): Promise<void> {
  const dispute = pix.disputes.at(-1);
  if (!dispute) return;
  const outcome = await acquirer.submitDefense({ disputeId: dispute.id, text: 'No fraud.' });
  // A second defense is answered with a conflict.
  const whileOpen = dispute.status === 'open' ? 'accepted' : 'unknown';
  expect(outcome.kind).toBe(openOf(pix) ? whileOpen : 'refused');
  if (openOf(pix)) dispute.status = 'under_review';
}

async function decide(
  pix: Expected,
  body: { outcome: 'won' | 'lost'; returned_amount?: number },
): Promise<void> {
  const dispute = pix.disputes.at(-1);
  if (!dispute) return;
  const answer = await post(`/control/disputes/${dispute.id}/decide`, body);
  const isLost = body.outcome === 'lost';
  const wanted = isLost ? 'accepted' : 'rejected';
  const moves = openOf(pix) !== undefined || (isLost && dispute.status === 'rejected');
  expect(answer.status).toBe(moves || dispute.status === wanted ? 200 : 409);
  if (!moves) return;
  if (isLost) return await lose(pix, dispute, body.returned_amount ?? dispute.cents);
  dispute.status = 'rejected';
  pix.journal.push(`dispute_decided ${dispute.cents} null`);
}

async function withdraw(pix: Expected): Promise<void> {
  const dispute = pix.disputes.at(-1);
  if (!dispute) return;
  const answer = await post(`/control/disputes/${dispute.id}/withdraw`);
  const moves = openOf(pix) !== undefined;
  expect(answer.status).toBe(moves || dispute.status === 'canceled' ? 200 : 409);
  if (!moves) return;
  dispute.status = 'canceled';
  pix.journal.push(`dispute_decided ${dispute.cents} null`);
}

/** State, list and journal of one Pix against the model. */
async function compare(pix: Expected): Promise<void> {
  await eventually(async () => {
    const found = await acquirer.getReceived(pix.endToEndId);
    if (found.kind !== 'found') throw new Error(`unexpected ${found.kind}`);
    const seen = found.value.returns.map((item) => [item.amountCents, item.nature, item.status]);
    const expected = [...pix.returns.values()];
    expect(seen).toEqual(expected.map((item) => [BigInt(item.cents), item.nature, item.status]));
  });
  const now = Date.now();
  const window = { from: new Date(now - 120_000), to: new Date(now + 60_000) };
  const listed = new Map<string, string>();
  for (let page = 0, more = true; more; page += 1) {
    const outcome = await acquirer.listDisputes({ ...window, page });
    if (outcome.kind !== 'page') throw new Error(`unexpected ${outcome.cause}`);
    for (const { id, status } of outcome.items) listed.set(id, status);
    more = outcome.hasMore;
  }
  for (const { id, status } of pix.disputes) expect(listed.get(id)).toBe(status);
  const lines = await journalOfPix(simulator, pix.endToEndId);
  const written = lines.map(({ kind, amount, natureza }) => `${kind} ${amount} ${natureza}`);
  expect(written.sort()).toEqual([`paid ${PIX_CENTS} null`, ...pix.journal].sort());
}

describe('any sequence of refunds, returns and disputes', () => {
  it('leaves what a model of it expects: sums, states, journal and balance', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const start = await balance();
        const pixes: Expected[] = [];
        for (let count = 0; count < 2; count += 1) {
          const { endToEndId } = await aPaidCharge(simulator);
          pixes.push({ endToEndId, returns: new Map(), disputes: [], journal: [] });
        }
        for (const step of sequence) await take(step, pixes[step.pix] as Expected);
        for (const pix of pixes) await compare(pix);
        const left = pixes.reduce((sum, pix) => sum + leftOf(pix), 0);
        expect((await balance()) - start).toBe(BigInt(left));
      }),
      { numRuns: RUNS, seed: testSeed() },
    );
  }, 90_000);
});
