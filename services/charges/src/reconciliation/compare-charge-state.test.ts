import { toCents } from '@pixmesh/kernel/money';
import { type ChargeId, newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import type { ComparedCharge } from './charge-state-check.sql.ts';
import { compareChargeState } from './compare-charge-state.ts';

const AMOUNT = 2_000n;

function ours(status: ComparedCharge['status'], acceptedE2e: string | null): ComparedCharge {
  const id = newId<ChargeId>();
  return { id, amount: AMOUNT, status, acceptedE2e, changedAt: new Date() };
}

test.each([
  ['pending', null, ['active', 'settled']],
  ['pending', 'E1', ['settled', 'removed_by_psp', 'removed_by_receiver']],
  ['paid', 'E1', ['settled', 'removed_by_psp', 'removed_by_receiver']],
  ['charged_back', 'E1', ['settled', 'removed_by_psp', 'removed_by_receiver']],
  ['canceled', null, ['settled', 'removed_by_psp', 'removed_by_receiver']],
] as const)('a charge that is %s with Pix %s goes with %j alone', (status, pix, allowed) => {
  for (const theirs of ['active', 'settled', 'removed_by_psp', 'removed_by_receiver'] as const) {
    const found = compareChargeState(ours(status, pix), {
      status: theirs,
      amountCents: toCents(AMOUNT),
    });
    const kinds = found.map(({ kind }) => kind);
    const isAllowed = (allowed as readonly string[]).includes(theirs);
    expect([theirs, kinds]).toEqual([theirs, isAllowed ? [] : ['state']]);
  }
});

test('a charge that is being issued may be missing at the acquirer, but not stand there with another amount', () => {
  const charge = ours('processing', null);
  const standing = (amountCents: bigint) => ({
    status: 'active' as const,
    amountCents: toCents(amountCents),
  });
  expect(compareChargeState(charge, null)).toEqual([]);
  expect(compareChargeState(charge, standing(AMOUNT))).toEqual([]);
  expect(compareChargeState(charge, standing(AMOUNT - 1n))).toMatchObject([
    { kind: 'amount', id: charge.id, expected: '1999', found: '2000', amountCents: 1n },
  ]);
});
