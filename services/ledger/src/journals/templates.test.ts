import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { AMOUNT_CENTS_MAX, toCents } from '@pixmesh/kernel/money';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { type Posting, TEMPLATES } from './templates.ts';

const amounts = fc.bigInt({ min: 1n, max: AMOUNT_CENTS_MAX }).map(toCents);
const accountIds = fc.uuid().map((id) => id as AccountId);

/** Where each template takes the money from and where it puts it. */
const WAYS = {
  creditReceivedPix: { from: 'acquirer_clearing', to: 'available' },
  creditReceivedPixPending: { from: 'acquirer_clearing', to: 'pending' },
  suspendReceivedPix: { from: 'acquirer_clearing', to: 'suspense' },
} as const satisfies Record<keyof typeof TEMPLATES, object>;

const NAMES = Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[];

describe.each(NAMES)('%s', (name) => {
  const template = TEMPLATES[name];

  test('nets to zero for every amount', () => {
    fc.assert(
      fc.property(accountIds, amounts, (accountId, amount) => {
        expect(sumOf(template(accountId, amount))).toBe(0n);
      }),
    );
  });

  test('moves exactly the amount, never nothing', () => {
    fc.assert(
      fc.property(accountIds, amounts, (accountId, amount) => {
        const credited = template(accountId, amount).filter((posting) => posting.amount > 0n);
        expect(sumOf(credited)).toBe(amount);
        expect(template(accountId, amount).every((posting) => posting.amount !== 0n)).toBe(true);
      }),
    );
  });

  test('touches each account at most once, and only accounts of its owner', () => {
    fc.assert(
      fc.property(accountIds, amounts, (accountId, amount) => {
        const postings = template(accountId, amount);
        expect(new Set(postings.map((posting) => posting.kind)).size).toBe(postings.length);
        expect(postings.every((posting) => posting.accountId === accountId)).toBe(true);
      }),
    );
  });

  test('takes the money from where the chart says, to where the chart says', () => {
    const postings = template(newId<AccountId>(), toCents(100n));
    const debit = postings.find((posting) => posting.amount < 0n);
    const credit = postings.find((posting) => posting.amount > 0n);
    expect({ from: debit?.kind, to: credit?.kind }).toEqual(WAYS[name]);
  });
});

test('any sequence of templates keeps the whole ledger at zero', () => {
  const step = fc.tuple(fc.constantFrom(...NAMES), accountIds, amounts);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const all = steps.flatMap(([name, accountId, amount]) => TEMPLATES[name](accountId, amount));
      expect(sumOf(all)).toBe(0n);
    }),
  );
});

function sumOf(postings: readonly Posting[]): bigint {
  return postings.reduce((sum, posting) => sum + posting.amount, 0n);
}
