import { type AccountId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { payoutsOverdue } from '#reports.ts';
import { stopPayouts } from '#stops/stop-payouts.ts';
import { startSendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { claimDue } from './claim-due.sql.ts';
import { countOverdue } from './overdue.sql.ts';
import { sendPayout } from './send-payout.ts';
import { ensureSlots } from './send-slots.sql.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
});

test('payouts that nobody sends are counted after 30 seconds, not before', async () => {
  await storeDuePayouts(database.db, 3, { sendInMs: -29_000 });
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 0, resting: 0 });
  await storeDuePayouts(database.db, 2, { sendInMs: -31_000 });
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 2, resting: 0 });
});

test('payouts without an answer are counted by the age of their first call, however often they are sent again', async () => {
  const ids = await storeDuePayouts(database.db, 3);
  await database.db.query(sql`
    update payouts
    set send_at = null, first_put_at = now() - interval '16 minutes', last_put_at = now(), check_at = now()
    where id = any(${ids.slice(0, 2)}::uuid[])`);
  expect(await countOverdue(database.db)).toEqual({ unanswered: 2, unsent: 0, resting: 0 });
  await database.db.query(
    sql`update payouts set send_at = now(), check_at = null where id = ${ids[0]}`,
  );
  expect(await countOverdue(database.db)).toEqual({ unanswered: 2, unsent: 0, resting: 0 });
  await database.db.query(sql`update payouts set processed_at = now() where id = ${ids[0]}`);
  await database.db.query(sql`update payouts set ending = 'release' where id = ${ids[1]}`);
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 0, resting: 0 });
});

test('a payout without an answer that a stop keeps from being sent again is not counted, others of its account are', async () => {
  const accountId = newId<AccountId>();
  const ids = await storeDuePayouts(database.db, 2, { accountId });
  await database.db.query(sql`
    update payouts set first_put_at = now() - interval '16 minutes' where id = any(${ids}::uuid[])`);
  await database.db.query(sql`
    update payouts set send_at = null, check_at = now() where id = ${ids[0]}`);
  expect(await countOverdue(database.db)).toMatchObject({ unanswered: 2 });
  await stop(accountId);
  expect(await countOverdue(database.db)).toEqual({ unanswered: 1, unsent: 0, resting: 0 });
});

test('payouts that a stop keeps from being sent are not counted', async () => {
  const accountId = newId<AccountId>();
  await storeDuePayouts(database.db, 3, { accountId, sendInMs: -60_000 });
  expect(await countOverdue(database.db)).toMatchObject({ unsent: 3 });
  await stop(accountId);
  expect(await countOverdue(database.db)).toMatchObject({ unsent: 0 });
});

async function stop(accountId: AccountId): Promise<void> {
  const logger = createLogger('payouts', 'silent');
  const order = { accountId, reason: 'books', operatorId: newId<OperatorId>() };
  await stopPayouts({ db: database.db, logger, wakeSender: () => undefined }, order);
}

test('payouts whose calls are never made, since no token is issued, are counted after 30 seconds, not before', async () => {
  await using mesh = await startSendingUnderTest();
  await ensureSlots(mesh.db, mesh.deps.slots);
  await mesh.faults({ operation: 'token', fault: 'error_before', status: 401 });
  const accountId = newId<AccountId>();
  await storeDuePayouts(mesh.db, 2, { accountId });
  const after = newId<AccountId>();
  const claims = await claimDue(mesh.db, { limit: 2, slots: 8, leaseMs: 10_000, after });
  for (const claim of claims) await sendPayout(mesh.deps, claim, Number.POSITIVE_INFINITY);
  expect(claims).toHaveLength(2);
  expect(await mesh.find(claims[0]!.payout.id)).toMatchObject({ sendAt: null, lastCallAt: null });
  const aged = (seconds: number) => sql`
    update payouts set created_at = now() - ${seconds}::int * interval '1 s'`;
  await mesh.db.query(aged(29));
  expect(await countOverdue(mesh.db)).toEqual({ unanswered: 0, unsent: 0, resting: 0 });
  await mesh.db.query(aged(31));
  expect(await countOverdue(mesh.db)).toEqual({ unanswered: 0, unsent: 2, resting: 0 });
  const stop = { accountId, reason: 'books', operatorId: newId<OperatorId>() };
  await stopPayouts({ ...mesh.deps }, stop);
  expect(await countOverdue(mesh.db)).toEqual({ unanswered: 0, unsent: 0, resting: 0 });
});

test('payouts that the acquirer accepted and that have not ended are counted after 90 minutes, not before', async () => {
  const ids = await storeDuePayouts(database.db, 4);
  const accepted = (minutes: number) => sql`
    update payouts
    set send_at = null, first_put_at = created_at, check_at = now(),
      created_at = now() - ${minutes}::int * interval '1 minute',
      processed_at = now() - ${minutes}::int * interval '1 minute'`;
  await database.db.query(accepted(89));
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 0, resting: 0 });
  await database.db.query(accepted(91));
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 0, resting: 4 });
  await database.db.query(sql`update payouts set ending = 'settle' where id = ${ids[0]}`);
  await database.db.query(sql`update payouts set status = 'completed' where id = ${ids[1]}`);
  await database.db.query(sql`update payouts set processed_at = now() where id = ${ids[2]}`);
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 0, resting: 1 });
});

test('operators are told of what is overdue, and of nothing else', () => {
  const lines: string[] = [];
  const logger = createLogger('payouts', 'info', { write: (line) => void lines.push(line) });
  payoutsOverdue(logger, { unanswered: 0, unsent: 0, resting: 0 });
  expect(lines).toEqual([]);
  payoutsOverdue(logger, { unanswered: 2, unsent: 1, resting: 0 });
  payoutsOverdue(logger, { unanswered: 0, unsent: 0, resting: 1 });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 50, unanswered: 2, unsent: 1 });
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ level: 50, resting: 1 });
});
