import { createContention } from './contention.ts';
import { NoTurnError } from './no-turn-error.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createYoungCalls } from './young-calls.ts';

const YOUNG_MS = 50;
const BESIDE_OTHERS = 2;
const PATIENT_MS = 60_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Calls that are under way until the test ends them. */
function heldCalls() {
  const begin = createYoungCalls('test', {
    besideOthersMax: BESIDE_OTHERS,
    contention: createContention(),
  });
  const begun: string[] = [];
  const held: PromiseWithResolvers<string>[] = [];
  const call = (account: string, beginBeforeMs = performance.now() + PATIENT_MS) =>
    begin({ account, beginBeforeMs }, async () => {
      begun.push(account);
      const answer = Promise.withResolvers<string>();
      held.push(answer);
      return await answer.promise;
    });
  const settled = () => vi.advanceTimersByTimeAsync(0);
  return { begun, held, call, settled };
}

test('an account that is alone begins as many calls as it makes', () => {
  const { begun, call } = heldCalls();
  for (let count = 0; count < 100; count += 1) void call('a');
  expect(begun).toHaveLength(100);
});

test('beside another account few begin at once, and the others’ do not wait for them', () => {
  const { begun, call } = heldCalls();
  void call('b');
  for (let count = 0; count < 10; count += 1) void call('a');
  void call('b');
  expect(begun.join('')).toBe('baab');
});

test('the end of a call, or fifty milliseconds, makes room for the next one', async () => {
  const { begun, held, call, settled } = heldCalls();
  void call('b');
  const answers = Array.from({ length: 6 }, () => call('a'));
  held[1]?.resolve('first');
  expect(await answers[0]).toBe('first');
  await settled();
  expect(begun.join('')).toBe('baaa');
  await vi.advanceTimersByTimeAsync(YOUNG_MS);
  expect(begun.join('')).toBe('baaaaa');
  held[5]?.resolve('last');
  expect(await answers[4]).toBe('last');
});

test('a call that fails makes room too, and its failure is thrown to its caller', async () => {
  const { begun, held, call, settled } = heldCalls();
  void call('b');
  const failing = call('a');
  void call('a');
  void call('a');
  held[1]?.reject(new Error('cut off'));
  await expect(failing).rejects.toThrow('cut off');
  await settled();
  expect(begun.join('')).toBe('baaa');
});

test('a call that has no turn in time never begins', async () => {
  const { begun, call } = heldCalls();
  void call('b');
  void call('a');
  void call('a');
  const late = call('a', performance.now() + YOUNG_MS - 1);
  const [outcome] = await Promise.all([
    late.catch((error: unknown) => error),
    vi.advanceTimersByTimeAsync(YOUNG_MS),
  ]);
  expect(outcome).toBeInstanceOf(NoTurnError);
  expect(begun.join('')).toBe('baa');
});
