import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { account } from '#test/batch-states.ts';

import { accountAfter, isAboveFloors } from './move-account.ts';
import { postingsOf, TEMPLATES } from './templates.ts';

const AT_MS = 1_000;

function moved(standing: Parameters<typeof account>[0], available: number, mayForce: boolean) {
  const postings = [{ kind: 'available' as const, amount: BigInt(available) }];
  return accountAfter(account(standing), { postings, atMs: AT_MS, mayForce });
}

describe('forced debit', () => {
  test.each([
    ['a block of what is there forces nothing', { available: 100 }, -100, 0n],
    ['a block of more forces the rest', { available: 100 }, -130, 30n],
    ['a second block forces on top', { available: -30, forcedDebit: 30 }, -20, 50n],
    [
      'a block after part was paid back counts what is owed',
      { available: 5, forcedDebit: 0 },
      -6,
      1n,
    ],
  ])('%s', (_name, standing, amount, forcedDebit) => {
    const after = moved(standing, amount, true);
    expect(after.forcedDebit).toBe(forcedDebit);
    expect(isAboveFloors(after)).toBe(true);
  });

  test.each([
    ['a credit pays it back', { available: -30, forcedDebit: 30 }, 20, 10n],
    ['a credit beyond it ends it', { available: -30, forcedDebit: 30 }, 80, 0n],
    ['it does not come back with the next debit', { available: 50, forcedDebit: 0 }, -50, 0n],
  ])('%s', (_name, standing, amount, forcedDebit) => {
    expect(moved(standing, amount, false).forcedDebit).toBe(forcedDebit);
  });

  test('no other template may use it: a debit below what was forced is below the floor', () => {
    const after = moved({ available: -30, forcedDebit: 30 }, -1, false);
    expect(isAboveFloors(after)).toBe(false);
  });

  test('never exceeds what is owed, whatever comes', () => {
    const step = fc.record({ amount: fc.integer({ min: -500, max: 500 }), mayForce: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state = account({ available: 200 });
        for (const { amount, mayForce } of steps) {
          const postings = [{ kind: 'available' as const, amount: BigInt(amount) }];
          const next = accountAfter(state, { postings, atMs: AT_MS, mayForce });
          if (!isAboveFloors(next)) continue;
          const { available } = next.balances;
          const owed = available < 0n ? -available : 0n;
          expect(next.forcedDebit).toBeLessThanOrEqual(owed);
          expect(available + next.forcedDebit).toBeGreaterThanOrEqual(0n);
          if (!mayForce) expect(next.forcedDebit).toBeLessThanOrEqual(state.forcedDebit);
          state = next;
        }
      }),
    );
  });
});

describe('floors', () => {
  test.each(['pending', 'held', 'blocked'] as const)('%s can owe nothing', (kind) => {
    expect(isAboveFloors(account({ [kind]: 0 }))).toBe(true);
    expect(isAboveFloors(account({ [kind]: -1 }))).toBe(false);
  });

  test.each(['suspense', 'acquirer_clearing', 'fees', 'acquirer_tariffs'] as const)(
    '%s may have either sign',
    (kind) => {
      expect(isAboveFloors(account({ [kind]: -1 }))).toBe(true);
      expect(isAboveFloors(account({ [kind]: 1 }))).toBe(true);
    },
  );
});

test('each journal has the next number and its own time', () => {
  const postings = postingsOf(TEMPLATES.receivedPixCredit, { amount: 5n, fee: 0n });
  const after = accountAfter(account({ version: 41 }), { postings, atMs: 7, mayForce: false });
  expect(after).toMatchObject({ version: 42n, movedAtMs: 7 });
});

test('what stood before is not touched', () => {
  const before = account({ available: 10 });
  const postings = postingsOf(TEMPLATES.holdTake, { amount: 5n, fee: 0n });
  accountAfter(before, { postings, atMs: 7, mayForce: false });
  expect(before).toEqual(account({ available: 10 }));
});
