import { armFailpoints } from '@pixmesh/service/failpoints';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

let charges: RefundsUnderTest;

beforeAll(async () => {
  charges = await startRefundsUnderTest();
});
afterEach(calm);
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const REST_MS = 30_000;

async function calm(): Promise<void> {
  armFailpoints({});
  charges.network.calm();
  await charges.simulator.control('DELETE', '/control/faults');
}

type Paid = Awaited<ReturnType<RefundsUnderTest['aPaidCharge']>>;
type Refund = { id: string; status: string; amount: bigint };

/** All refunds of a charge once none is under way any more. */
async function atRest(charge: Paid): Promise<Refund[]> {
  return await eventually(async () => {
    await charges.db.query(
      sql`update refunds set check_at = now() - interval '1 second' where charge_id = ${charge.id} and status = 'intent'`,
    );
    const rows = await charges.db.query<Refund>(
      sql`select id, status, amount from refunds where charge_id = ${charge.id}`,
    );
    expect(rows.filter(({ status }) => !['completed', 'failed'].includes(status))).toEqual([]);
    return rows;
  }, REST_MS);
}

/**
 * What must hold of every charge once nothing is under way: no more went back than was paid, each completed refund is
 * one return and nothing else is, and the balance is what is left, less what others hold of it.
 */
async function expectExact(charge: Paid, { med = 0, reserved = 0 } = {}): Promise<Refund[]> {
  const refunds = await atRest(charge);
  const completed = refunds.filter(({ status }) => status === 'completed');
  const amounts = completed.map(({ amount }) => Number(amount));
  const refunded = amounts.reduce((sum, amount) => sum + amount, 0);
  expect(refunded + med).toBeLessThanOrEqual(charge.amount);
  const returned = await charges.returnsOf(charge.endToEndId);
  const all = med > 0 ? [...amounts, med] : amounts;
  expect(returned.toSorted(byValue)).toEqual(all.toSorted(byValue));
  const row = await charges.charge(charge.id);
  expect(row.refundedAmount).toBe(BigInt(refunded));
  const status = med > 0 ? 'charged_back' : refunded === charge.amount ? 'refunded' : 'paid';
  expect(row.status).toBe(status);
  await charges.balanceIs(charge.accountId, {
    available: charge.amount - refunded - med - reserved,
  });
  const moves = (await charges.historyOf(charge.id)).filter(
    ({ cause }) => cause === 'refund_completed',
  );
  expect(moves.map(({ detail }) => detail).toSorted()).toEqual(
    completed.map(({ id }) => id).toSorted(),
  );
  return refunds;
}

function byValue(a: number, b: number): number {
  return a - b;
}

describe('32 refunds at once', () => {
  test('of parts that do not all fit: as many as fit, each once', async () => {
    const charge = await charges.aPaidCharge(2_000);
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => charges.refund(charge.id, { amount: 150 })),
    );
    const accepted = answers.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(13);
    const others = answers.filter(({ status }) => status !== 201);
    expect(new Set(others.map(({ body }) => body.code))).toEqual(
      new Set(['REFUND_EXCEEDS_CHARGE']),
    );
    const refunds = await expectExact(charge);
    expect(refunds.map(({ status }) => status)).toEqual(refunds.map(() => 'completed'));
    expect(refunds).toHaveLength(13);
  });

  test('of all that is left: one has all of it', async () => {
    const charge = await charges.aPaidCharge(2_000);
    const answers = await Promise.all(Array.from({ length: 32 }, () => charges.refund(charge.id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    await expectExact(charge);
  });

  test('with too little money: what there is, and the other keys are free', async () => {
    const charge = await charges.aPaidCharge(2_000);
    await charges.ledger.ask(`PUT /internal/holds/${newId()}`, null, {
      account_id: charge.accountId,
      resource_id: newId(),
      kind: 'payout',
      amount: 1_500,
      fee: 0,
    });
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => charges.refund(charge.id, { amount: 150 })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(answers.length - refused.length).toBe(3);
    for (const { body } of refused) {
      expect(['INSUFFICIENT_BALANCE', 'REFUND_EXCEEDS_CHARGE']).toContain(body.code);
    }
    expect(await expectExact(charge, { reserved: 1_500 })).toHaveLength(3);
  });
});

test('a return under the MED that overtakes a refund: the acquirer arbitrates, the books follow', async () => {
  for (let round = 0; round < 4; round += 1) {
    const charge = await charges.aPaidCharge(1_000);
    const med = charges.simulator
      .control('POST', `/control/pix/${charge.endToEndId}/returns`, {
        amount: 600,
        natureza: 'MED_FRAUDE',
      })
      .then(
        () => 600,
        () => 0,
      );
    const [returned] = await Promise.all([med, charges.refund(charge.id, { amount: 700 })]);
    await atRest(charge);
    const status = returned > 0 ? 'charged_back' : 'paid';
    await eventually(async () => {
      await charges.announce(charge.id);
      expect((await charges.charge(charge.id)).status).toBe(status);
    }, REST_MS);
    await expectExact(charge, { med: returned });
  }
});

type Step =
  | { do: 'refund'; key: number; amount: number | null }
  | { do: 'fault'; operation: string; fault: string }
  | { do: 'network'; trouble: 'lost' | 'answer_lost' }
  | { do: 'die'; place: (typeof PLACES)[number] }
  | { do: 'announce' }
  | { do: 'together'; keys: readonly number[]; amount: number };

const PLACES = [
  'charges.refund.before-insert',
  'charges.refund.after-intent',
  'charges.refund.after-hold',
  'charges.refund.after-commit',
] as const;

const key = fc.integer({ min: 0, max: 5 });
const amount = fc.integer({ min: 1, max: 700 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('refund'), key, amount: fc.option(amount) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fault'),
      operation: fc.constantFrom('refund', 'refund', 'getRefund'),
      fault: fc.constantFrom('error_before', 'error_after', 'reset', 'garbage'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fault'),
      operation: fc.constantFrom('refund', 'settleRefund'),
      fault: fc.constant('refusal'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('network'),
      trouble: fc.constantFrom('lost', 'answer_lost'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('die'), place: fc.constantFrom(...PLACES) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('announce') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('together'),
      keys: fc.array(key, { minLength: 2, maxLength: 6 }),
      amount,
    }),
  },
) as fc.Arbitrary<Step>;

test('whatever is requested, lost, refused and checked: the books are exact', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
      await calm();
      const charge = await charges.aPaidCharge(1_000);
      const keys = Array.from({ length: 6 }, () => newId());
      const rules: object[] = [];
      for (const one of steps) await take(charge, { step: one, keys, rules });
      await calm();
      await charges.announce(charge.id);
      await expectExact(charge);
    }),
    { numRuns: scaled(2, 200), endOnFailure: true },
  );
});

async function take(
  charge: Paid,
  { step: one, keys, rules }: { step: Step; keys: readonly string[]; rules: object[] },
): Promise<void> {
  const refund = async (index: number, cents: number | null) => {
    const body = cents === null ? {} : { amount: cents };
    const answer = await charges.refund(charge.id, body, keys[index]);
    expect([201, 400, 409, 422, 500]).toContain(answer.status);
  };
  switch (one.do) {
    case 'refund':
      return await refund(one.key, one.amount);
    case 'together':
      await Promise.all(one.keys.map((index) => refund(index, one.amount)));
      return;
    case 'fault':
      rules.push({ operation: one.operation, fault: one.fault, count: 1 });
      await charges.faults(...rules);
      return;
    case 'network':
      return charges.network.trouble('PUT', /^\/internal\/holds\/[^/]+$/, one.trouble);
    case 'die':
      return armFailpoints({ [one.place]: 'error' });
    case 'announce':
      return await charges.announce(charge.id);
    default:
      throw new Error('no such step');
  }
}
