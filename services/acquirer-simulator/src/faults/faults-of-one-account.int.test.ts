import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aCharge, startTestSimulator, type TestSimulator } from '#test/test-simulator.ts';

/** Failing calls of one account at a time, again and again. */
const CALLS_AT_ONCE = 50;
const CALLS_OF_OTHER = 30;

let database: TestDatabase;
let simulator: TestSimulator;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
});
afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function callsOf(acquirer: Acquirer, name: string) {
  const accountId = newId<AccountId>();
  const debtor = { name, document: '52998224725' };
  return async () => await acquirer.issueCharge({ ...aCharge(), debtor }, { accountId });
}

test('beside an account whose calls fail all the time, every call of another one is made and answered', async () => {
  const rules = [{ operation: 'issueCharge', fault: 'error_before', only: { debtor: 'Ana 2' } }];
  await simulator.call('PUT', '/control/faults', { rules });
  const acquirer = simulator.client();
  const [failing, other] = [callsOf(acquirer, 'Ana 2'), callsOf(acquirer, 'Eva 2')];
  const over = new AbortController();
  const causes = new Set<string>();
  const crowd = Array.from({ length: CALLS_AT_ONCE }, async () => {
    while (!over.signal.aborted) {
      const outcome = await failing();
      causes.add(outcome.kind === 'unknown' ? outcome.cause : outcome.kind);
      // What is held back ends without I/O.
      await nextTurn();
    }
  });
  const outcomes = new Set<string>();
  for (let calls = 0; calls < CALLS_OF_OTHER; calls += 1) outcomes.add((await other()).kind);
  over.abort();
  await Promise.all(crowd);
  expect(outcomes).toEqual(new Set(['issued']));
  expect(causes).toEqual(new Set(['status_500', 'breaker_open:status_500']));
});
