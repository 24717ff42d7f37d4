import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createContention } from './contention.ts';
import { createYoungCalls } from './young-calls.ts';

const YOUNG_MS = 50;
const WAIT_MS = 1_000;
/** Of an account whose calls do not come in groups. */
const SINGLE_PER_SECOND_MAX = 30;
const PATIENT_MS = 60_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Calls that are under way until the test ends them; `begun` has the accounts of those that have begun. */
function heldCalls({ aloneMax = 100, inGroups = false } = {}) {
  const contention = createContention();
  const beginSpread = createYoungCalls({
    name: 'test',
    aloneMax,
    besideOthersMax: 2,
    inGroups,
    contention,
  });
  const begun: string[] = [];
  const held: PromiseWithResolvers<string>[] = [];
  const call = (account: string, timeLeftMs = PATIENT_MS) =>
    beginSpread({ account, timeLeftMs }, async () => {
      begun.push(account);
      const answer = Promise.withResolvers<string>();
      held.push(answer);
      return await answer.promise;
    });
  return { begun, held, call };
}

test('an account that is alone begins as many calls as it may alone', () => {
  const { begun, call } = heldCalls({ aloneMax: 4 });
  for (let count = 0; count < 10; count += 1) void call('a');
  expect(begun).toHaveLength(4);
});

test('beside another account few begin at once, and the others’ do not wait for them', () => {
  const { begun, call } = heldCalls();
  void call('b');
  for (let count = 0; count < 10; count += 1) void call('a');
  void call('b');
  expect(begun.join('')).toBe('baab');
});

test('the end of a call, or fifty milliseconds, makes room for the next one', async () => {
  const { begun, held, call } = heldCalls();
  void call('b');
  const answers = Array.from({ length: 6 }, () => call('a'));
  held[1]?.resolve('first');
  expect(await answers[0]).toBe('first');
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.join('')).toBe('baaa');
  await vi.advanceTimersByTimeAsync(YOUNG_MS);
  expect(begun.join('')).toBe('baaaaa');
  held[5]?.resolve('last');
  expect(await answers[4]).toBe('last');
});

test('in groups, those of an account with many a second begin together, once each of its last ones has ended or is not young', async () => {
  const { begun, held, call } = heldCalls({ inGroups: true });
  void call('b');
  for (let count = 0; count < 2 * SINGLE_PER_SECOND_MAX; count += 1) void call('a');
  for (let ended = 1; ended <= SINGLE_PER_SECOND_MAX; ended += 1) {
    held[ended]?.resolve('done');
    await vi.advanceTimersByTimeAsync(0);
  }
  const singles = SINGLE_PER_SECOND_MAX + 1;
  expect(begun.slice(1)).toHaveLength(singles);
  held[singles - 1]?.resolve('done');
  await vi.advanceTimersByTimeAsync(YOUNG_MS - 1);
  expect(begun.slice(1)).toHaveLength(singles);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun.slice(1)).toHaveLength(singles + 2);
  void call('b');
  expect(begun.at(-1)).toBe('b');
});

test('a call that fails makes room too, and its failure is thrown to its caller', async () => {
  const { begun, held, call } = heldCalls();
  void call('b');
  const failing = call('a');
  void call('a');
  void call('a');
  held[1]?.reject(new Error('cut off'));
  await expect(failing).rejects.toThrow('cut off');
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.join('')).toBe('baaa');
});

test('no call waits for longer than a second: it begins beside more than the bound', async () => {
  const { begun, call } = heldCalls();
  void call('b');
  for (let count = 0; count < 100; count += 1) void call('a');
  await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
  expect(begun.length).toBeLessThan(50);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toHaveLength(101);
});

test('no call waits for longer than half of its time', async () => {
  const { begun, held, call } = heldCalls();
  void call('b');
  void call('a');
  void call('a');
  const short = call('a', YOUNG_MS);
  await vi.advanceTimersByTimeAsync(YOUNG_MS / 2);
  expect(begun.join('')).toBe('baaa');
  held[3]?.resolve('in time');
  expect(await short).toBe('in time');
});
