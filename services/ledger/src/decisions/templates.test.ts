import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { ACCOUNT_KINDS, type AccountKind } from '#accounts/chart-of-accounts.ts';

import { type Posting, postingsOf, TEMPLATES } from './templates.ts';

const amounts = fc.bigInt({ min: 1n, max: AMOUNT_CENTS_MAX });
const fees = fc.bigInt({ min: 0n, max: AMOUNT_CENTS_MAX });
const money = fc
  .record({ amount: amounts, fee: fees, part: fc.integer({ min: 0, max: 4 }) })
  .map(({ amount, fee, part }) => ({ amount, fee, ofBlock: ((amount + fee) * BigInt(part)) / 4n }));

/** The accounting of each template, written a second time: what 100 with a fee of 7 moves, 30 of it of a block. */
const MOVES = {
  holdTake: { available: -107, held: 107 },
  holdSettle: { held: -107, acquirer_clearing: 100, fees: 7 },
  holdRelease: { held: -107, available: 107 },
  refundHoldTake: { blocked: -30, available: -77, held: 107 },
  refundHoldRelease: { held: -107, blocked: 30, available: 77 },
  receivedPixCredit: { acquirer_clearing: -100, available: 100 },
  receivedPixCreditPending: { acquirer_clearing: -100, pending: 100 },
  pendingRelease: { pending: -100, available: 100 },
  receivedPixSuspend: { acquirer_clearing: -100, suspense: 100 },
  payoutReturnCredit: { acquirer_clearing: -100, available: 100 },
  payoutSuspendOut: { suspense: -100, acquirer_clearing: 100 },
  payoutSuspendIn: { acquirer_clearing: -100, suspense: 100 },
  acquirerTariffBook: { acquirer_tariffs: -100, acquirer_clearing: 100 },
  disputeBlock: { available: -100, blocked: 100 },
  disputeUnblock: { blocked: -100, available: 100 },
  pixReturn: { blocked: -30, available: -77, acquirer_clearing: 107 },
  suspenseAccept: { suspense: -100, available: 100 },
  suspenseHandOver: { suspense: -100, acquirer_clearing: 100 },
  suspenseReturn: { suspense: -100, acquirer_clearing: 100 },
  suspenseCredit: { acquirer_clearing: -100, available: 100 },
} as const satisfies Record<keyof typeof TEMPLATES, Partial<Record<AccountKind, number>>>;

const NAMES = Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[];

describe.each(NAMES)('%s', (name) => {
  const template = TEMPLATES[name];

  test('moves what the chart says, from where and to where it says', () => {
    const postings = postingsOf(template, { amount: 100n, fee: 7n, ofBlock: 30n });
    const moved = postings.map(({ kind, amount }) => [kind, Number(amount)]);
    expect(Object.fromEntries(moved)).toEqual(MOVES[name]);
  });

  test('nets to zero for all sums', () => {
    fc.assert(
      fc.property(money, (sums) => {
        expect(sumOf(postingsOf(template, sums))).toBe(0n);
      }),
    );
  });

  test('debits at least the amount, and never moves nothing', () => {
    fc.assert(
      fc.property(money, (sums) => {
        const postings = postingsOf(template, sums);
        const debits = sumOf(postings.filter(({ amount }) => amount < 0n));
        expect([-sums.amount, -sums.amount - sums.fee]).toContain(debits);
        expect(postings.every(({ amount }) => amount !== 0n)).toBe(true);
      }),
    );
  });

  test('touches each account at most once, and only accounts of the chart', () => {
    fc.assert(
      fc.property(money, (sums) => {
        const kinds = postingsOf(template, sums).map(({ kind }) => kind);
        expect(new Set(kinds).size).toBe(kinds.length);
        expect(kinds.every((kind) => ACCOUNT_KINDS.includes(kind))).toBe(true);
      }),
    );
  });

  test('leaves a line without money out', () => {
    const kinds = postingsOf(template, { amount: 1n, fee: 0n }).map(({ kind }) => kind);
    expect(kinds).not.toContain('fees');
    expect(kinds).toHaveLength(2);
  });
});

test('only a block and a return out of the balance may force a debit (decision 137)', () => {
  expect(NAMES.filter((name) => TEMPLATES[name].mayForce)).toEqual(['disputeBlock', 'pixReturn']);
});

test('any sequence of templates keeps the whole ledger at zero', () => {
  const step = fc.tuple(fc.constantFrom(...NAMES), money);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const all = steps.flatMap(([name, sums]) => postingsOf(TEMPLATES[name], sums));
      expect(sumOf(all)).toBe(0n);
    }),
  );
});

test('a hold and its release leave every account as it was', () => {
  fc.assert(
    fc.property(money, (sums) => {
      const all = [
        ...postingsOf(TEMPLATES.holdTake, sums),
        ...postingsOf(TEMPLATES.holdRelease, sums),
        ...postingsOf(TEMPLATES.refundHoldTake, sums),
        ...postingsOf(TEMPLATES.refundHoldRelease, sums),
      ];
      for (const kind of ACCOUNT_KINDS) {
        expect(sumOf(all.filter((posting) => posting.kind === kind))).toBe(0n);
      }
    }),
  );
});

function sumOf(postings: readonly Posting[]): bigint {
  return postings.reduce((sum, posting) => sum + posting.amount, 0n);
}
