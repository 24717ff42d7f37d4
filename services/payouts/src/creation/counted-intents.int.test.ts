import { type AccountId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createLogger } from '@pixmesh/telemetry/logger';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { findAnyPayout } from '#payouts/payouts.sql.ts';
import { stopPayouts } from '#stops/stop-payouts.ts';
import { anIntent } from '#test/an-intent.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { commitIntent } from './intents.sql.ts';

/** Intents that are committed by a process that holds a slot: their first call is counted with them. */

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
});
afterEach(() => database[Symbol.asyncDispose]());

const LEASE_MS = 6_000;

function stop(accountId: AccountId) {
  const logger = createLogger('payouts', 'silent');
  const deps = { db: database.db, logger, wakeSender: () => undefined };
  return stopPayouts(deps, { accountId, reason: 'books', operatorId: newId<OperatorId>() });
}

test('the call is counted in the commit that makes the payout, and a check is due when it has ended', async () => {
  const made = await commitIntent(database.db, await anIntent(database.db), LEASE_MS);
  expect(made).toMatchObject({
    status: 'processing',
    unansweredCalls: 1,
    sendAt: null,
    version: 1,
  });
  const checkInMs = (made?.nextCheckAt?.getTime() ?? 0) - (made?.lastCallAt?.getTime() ?? 0);
  expect(checkInMs).toBe(LEASE_MS);
});

test('while others wait to be sent it waits behind them, and no call is counted', async () => {
  await storeDuePayouts(database.db, 1);
  const made = await commitIntent(database.db, await anIntent(database.db), LEASE_MS);
  expect(made).toMatchObject({ status: 'processing', unansweredCalls: 0, lastCallAt: null });
  expect(made?.sendAt).not.toBeNull();
  expect(made?.nextCheckAt).toBeNull();
});

test('what a stop keeps from being sent holds up nobody else', async () => {
  const stopped = newId<AccountId>();
  await storeDuePayouts(database.db, 1, { accountId: stopped });
  await stop(stopped);
  const made = await commitIntent(database.db, await anIntent(database.db), LEASE_MS);
  expect(made).toMatchObject({ unansweredCalls: 1, sendAt: null });
});

test('under a stop nothing is counted: it waits for approval', async () => {
  const intent = await anIntent(database.db);
  await stop(intent.accountId);
  const made = await commitIntent(database.db, intent, LEASE_MS);
  expect(made).toMatchObject({ status: 'pending', unansweredCalls: 0, sendAt: null });
  expect(await findAnyPayout(database.db, intent.id)).toMatchObject({ nextCheckAt: null });
});
