import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createBeginSend } from './begin-send.ts';

const SLOTS = 8;
const YOUNG_MS = 50;
const PATIENT_MS = 2_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Sends without an answer; each has a number, in the order in which it was claimed. */
function heldSends() {
  const beginSend = createBeginSend(SLOTS);
  const begun: number[] = [];
  let claimed = 0;
  const claim = (accountId: AccountId, startMs = PATIENT_MS): void => {
    claimed += 1;
    const number = claimed;
    const turn = { accountId, callBeforeMs: performance.now() + startMs };
    void beginSend(turn, async () => {
      begun.push(number);
      await new Promise(() => undefined);
    });
  };
  return { begun, claim };
}

test('all slots serve an account whose payouts are the only ones', () => {
  const { begun, claim } = heldSends();
  const account = newId<AccountId>();
  for (let slot = 0; slot < SLOTS; slot += 1) claim(account);
  expect(begun).toHaveLength(SLOTS);
});

test('beside another account a quarter of the slots begin at once, and the next ones every fifty milliseconds', async () => {
  const { begun, claim } = heldSends();
  const [account, other] = [newId<AccountId>(), newId<AccountId>()];
  claim(other);
  for (let slot = 0; slot < 5; slot += 1) claim(account);
  claim(other);
  expect(begun).toEqual([1, 2, 3, 7]);
  await vi.advanceTimersByTimeAsync(YOUNG_MS);
  expect(begun).toEqual([1, 2, 3, 7, 4, 5]);
});

test('a send without a turn in time begins late, so that its call is taken off the count', async () => {
  const { begun, claim } = heldSends();
  const account = newId<AccountId>();
  claim(newId<AccountId>());
  claim(account);
  claim(account);
  claim(account, YOUNG_MS / 2);
  await vi.advanceTimersByTimeAsync(YOUNG_MS / 2);
  expect(begun).toEqual([1, 2, 3, 4]);
});
