import type { AccountId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { FAILURES_MAX } from './circuit.ts';
import type { Acquirer } from './acquirer.ts';
import { json, startTestProvider, type TestProvider } from './testing/test-provider.ts';

const CHARGE = {
  calendario: { criacao: '2026-09-09T20:15:00.358Z', expiracao: 3600 },
  status: 'ATIVA',
  valor: { original: '10.00' },
  chave: 'key',
};
const TIMEOUT_MS = 8_000;
/**
 * The provider answers within its time, and calls that wait for the second round are longer under way than that. The
 * rest is for hundreds of connections in one process.
 */
const ANSWER_AFTER_MS = 4_200;
const PATIENT_MS = 30_000;
/** Calls of one account alone at once. */
const OWN_MAX = 512;
/** Beyond them. */
const WAITING = 40;
const AGGRESSOR = 'a0000000-0000-4000-8000-000000000001' as AccountId;
const VICTIM = 'a0000000-0000-4000-8000-000000000002' as AccountId;

let provider: TestProvider;
let acquirer: Acquirer;
beforeEach(async () => {
  provider = await startTestProvider();
  acquirer = provider.connect(TIMEOUT_MS);
});
afterEach(async () => {
  await acquirer[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

function txidOf(number: number): string {
  return `7978c0c97ea847e78e88496${String(number).padStart(9, '0')}`;
}

function callMany(count: number, accountId: AccountId) {
  const beginBeforeMs = performance.now() + PATIENT_MS;
  return Array.from({ length: count }, (_, number) =>
    acquirer.getCharge(txidOf(number), { accountId, beginBeforeMs }),
  );
}

function charge(url: string | undefined): object {
  return { ...CHARGE, txid: url?.split('/').at(-1) };
}

test('a provider that answers in time is no failure, however many calls wait for a place', async () => {
  provider.answerCall = (request, response) => {
    setTimeout(() => json(response, 200, charge(request.url)), ANSWER_AFTER_MS);
  };
  const outcomes = await Promise.all(callMany(OWN_MAX + WAITING, AGGRESSOR));
  expect(new Set(outcomes.map((outcome) => outcome.kind))).toEqual(new Set(['found']));
  provider.answerCall = (request, response) => json(response, 200, charge(request.url));
  // With the breaker open nothing would be sent.
  expect(await acquirer.getCharge(txidOf(1))).toMatchObject({ kind: 'found' });
}, 60_000);

test('a call is made at once beside another account’s, however many of those have no answer', async () => {
  const held: (() => void)[] = [];
  provider.answerCall = (request, response) => {
    held.push(() => json(response, 200, charge(request.url)));
  };
  const crowd = callMany(OWN_MAX + WAITING, AGGRESSOR);
  await eventually(() => expect(held).toHaveLength(OWN_MAX));
  const [own] = callMany(1, VICTIM);
  await eventually(() => expect(held).toHaveLength(OWN_MAX + 1));
  held.pop()?.();
  expect(await own).toMatchObject({ kind: 'found' });
  provider.answerCall = (request, response) => json(response, 200, charge(request.url));
  for (const answer of held.splice(0)) answer();
  await Promise.all(crowd);
}, 60_000);

test('a call that had no turn in time was never sent, and says so', async () => {
  const late = { accountId: VICTIM, beginBeforeMs: performance.now() };
  expect(await acquirer.getCharge(txidOf(1), late)).toEqual({
    kind: 'unknown',
    cause: 'no_turn:late',
  });
  const left = { accountId: VICTIM, signal: AbortSignal.abort() };
  expect(await acquirer.getCharge(txidOf(1), left)).toEqual({
    kind: 'unknown',
    cause: 'no_turn:aborted',
  });
  expect(provider.calls).toEqual([]);
});

test('a caller that leaves before the deadline of its call says nothing of the provider', async () => {
  provider.answerCall = () => undefined;
  for (let left = 0; left < FAILURES_MAX; left += 1) {
    // What a wait has left of a request's time.
    const outcome = await acquirer.getCharge(txidOf(left), { signal: AbortSignal.timeout(20) });
    expect(outcome).toMatchObject({ kind: 'unknown', cause: expect.stringMatching(/aborted$/) });
  }
  provider.answerCall = (request, response) => json(response, 200, charge(request.url));
  expect(await acquirer.getCharge(txidOf(1))).toMatchObject({ kind: 'found' });
});
