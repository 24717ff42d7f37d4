import { type AccountId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createLogger } from '@pixmesh/telemetry/logger';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { sql } from '@pixmesh/postgres/sql';
import { findAnyPayout } from '#payouts/payouts.sql.ts';
import { stopPayouts } from '#stops/stop-payouts.ts';
import { anIntent } from '#test/an-intent.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { createIntentCommits, type IntentCommits } from './commit-intents.sql.ts';
import { deleteIntent } from './intents.sql.ts';

/** Intents that are committed by a process that holds a slot: their first call is counted with them. */

let database: TestDatabase;
let commits: IntentCommits;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
  commits = createIntentCommits(database.db);
});
afterEach(() => database[Symbol.asyncDispose]());

const LEASE_MS = 6_000;

function stop(accountId: AccountId) {
  const logger = createLogger('payouts', 'silent');
  const deps = { db: database.db, logger, wakeSender: () => undefined };
  return stopPayouts(deps, { accountId, reason: 'books', operatorId: newId<OperatorId>() });
}

test('the call is counted in the commit that makes the payout, and a check is due when it has ended', async () => {
  const made = await commits.commit(await anIntent(database.db), LEASE_MS);
  expect(made).toMatchObject({
    status: 'processing',
    unansweredCalls: 1,
    sendAt: null,
    version: 1,
  });
  const checkInMs = (made?.nextCheckAt?.getTime() ?? 0) - (made?.lastCallAt?.getTime() ?? 0);
  expect(checkInMs).toBe(LEASE_MS);
});

test('while others of its account wait to be sent it waits behind them, and no call is counted', async () => {
  const intent = await anIntent(database.db);
  await storeDuePayouts(database.db, 1, { accountId: intent.accountId });
  const made = await commits.commit(intent, LEASE_MS);
  expect(made).toMatchObject({ status: 'processing', unansweredCalls: 0, lastCallAt: null });
  expect(made?.sendAt).not.toBeNull();
  expect(made?.nextCheckAt).toBeNull();
});

test('what waits of other accounts holds up nobody', async () => {
  await storeDuePayouts(database.db, 1);
  const made = await commits.commit(await anIntent(database.db), LEASE_MS);
  expect(made).toMatchObject({ unansweredCalls: 1, sendAt: null });
});

test('under a stop nothing is counted: it waits for approval', async () => {
  const intent = await anIntent(database.db);
  await stop(intent.accountId);
  const made = await commits.commit(intent, LEASE_MS);
  expect(made).toMatchObject({ status: 'pending', unansweredCalls: 0, sendAt: null });
  expect(await findAnyPayout(database.db, intent.id)).toMatchObject({ nextCheckAt: null });
});

test('of intents that are committed together, each becomes what it would become alone', async () => {
  const [stopped, waiting, counted] = [1, 2, 3].map(() => newId<AccountId>());
  const intents = await Promise.all(
    [stopped, waiting, counted].map((accountId) => anIntent(database.db, accountId)),
  );
  await stop(stopped!);
  const gone = await anIntent(database.db);
  await deleteIntent(database.db, gone);
  const leases = [LEASE_MS, null, LEASE_MS, LEASE_MS];
  const made = await Promise.all(
    [...intents, gone].map((intent, index) => commits.commit(intent, leases[index]!)),
  );
  expect(made).toMatchObject([
    { accountId: stopped, status: 'pending', pendingReason: 'payouts stopped: books' },
    { accountId: waiting, status: 'processing', sendAt: expect.any(Date), unansweredCalls: 0 },
    { accountId: counted, status: 'processing', sendAt: null, unansweredCalls: 1 },
    null,
  ]);
  for (const { id, accountId } of intents) {
    const events = await database.db.query<{ status: string }>(sql`
      select message->'data'->>'status' as status from events where key = ${id}`);
    expect(events).toEqual([{ status: accountId === stopped ? 'pending' : 'processing' }]);
  }
});

test('an intent that two finish at once becomes a payout once', async () => {
  const intent = await anIntent(database.db);
  const made = await Promise.all([1, 2, 3].map(() => commits.commit(intent, LEASE_MS)));
  expect(made.filter((payout) => payout !== null)).toHaveLength(1);
  const events = await database.db.query(sql`select from events where key = ${intent.id}`);
  expect(events).toHaveLength(1);
});
