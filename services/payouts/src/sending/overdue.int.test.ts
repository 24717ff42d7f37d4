import { type AccountId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { payoutsOverdue } from '#events.ts';
import { stopPayouts } from '#stops/stop-payouts.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { countOverdue } from './overdue.sql.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
});

test('payouts that nobody sends are counted after 30 seconds, not before', async () => {
  await storeDuePayouts(database.db, 3, { sendInMs: -29_000 });
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 0 });
  await storeDuePayouts(database.db, 2, { sendInMs: -31_000 });
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 2 });
});

test('payouts without an answer are counted by the age of their first call, however often they are sent again', async () => {
  const ids = await storeDuePayouts(database.db, 3);
  await database.db.query(sql`
    update payouts
    set send_at = null, first_put_at = now() - interval '16 minutes', last_put_at = now(), check_at = now()
    where id = any(${ids.slice(0, 2)}::uuid[])`);
  expect(await countOverdue(database.db)).toEqual({ unanswered: 2, unsent: 0 });
  await database.db.query(
    sql`update payouts set send_at = now(), check_at = null where id = ${ids[0]}`,
  );
  expect(await countOverdue(database.db)).toEqual({ unanswered: 2, unsent: 0 });
  await database.db.query(sql`update payouts set processed_at = now() where id = ${ids[0]}`);
  await database.db.query(sql`update payouts set ending = 'release' where id = ${ids[1]}`);
  expect(await countOverdue(database.db)).toEqual({ unanswered: 0, unsent: 0 });
});

test('a payout without an answer that a stop keeps from being sent again is not counted, others of its account are', async () => {
  const accountId = newId<AccountId>();
  const ids = await storeDuePayouts(database.db, 2, { accountId });
  await database.db.query(sql`
    update payouts set first_put_at = now() - interval '16 minutes' where id = any(${ids}::uuid[])`);
  await database.db.query(sql`
    update payouts set send_at = null, check_at = now() where id = ${ids[0]}`);
  expect(await countOverdue(database.db)).toMatchObject({ unanswered: 2 });
  const logger = createLogger('payouts', 'silent');
  const stop = { accountId, reason: 'books', operatorId: newId<OperatorId>() };
  await stopPayouts({ db: database.db, logger, wakeSender: () => undefined }, stop);
  expect(await countOverdue(database.db)).toEqual({ unanswered: 1, unsent: 0 });
});

test('operators are told of what is overdue, and of nothing else', () => {
  const lines: string[] = [];
  const logger = createLogger('payouts', 'info', { write: (line) => void lines.push(line) });
  payoutsOverdue(logger, { unanswered: 0, unsent: 0 });
  expect(lines).toEqual([]);
  payoutsOverdue(logger, { unanswered: 2, unsent: 1 });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 50, unanswered: 2, unsent: 1 });
});
