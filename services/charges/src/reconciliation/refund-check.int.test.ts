import type { Break, ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { reconcile as reconcileWith } from '@pixmesh/testkit/reconcile';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

let charges: RefundsUnderTest;
let admin: Database;

beforeAll(async () => {
  charges = await startRefundsUnderTest({
    RECONCILIATION_WINDOW_MS: '1',
    RECONCILIATION_MS: '3600000',
  });
  admin = createPool({ url: charges.adminUrl, applicationName: 'test', max: 2 });
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await charges[Symbol.asyncDispose]();
});

const CLEAN_MS = 20_000;

async function reconcile(full: boolean): Promise<ReconciliationReport> {
  return await reconcileWith((route, body) => charges.request(null, route, body), full);
}

/** A difference whose time nobody knows counts from the run that saw it first: it shows in the next. */
async function breaksOf(): Promise<Break[]> {
  await reconcile(false);
  const report = await reconcile(false);
  return report.checks.find(({ name }) => name === 'refund')?.breaks ?? [];
}

async function untilClean(): Promise<void> {
  await eventually(async () => {
    const breaks = (await reconcile(true)).checks.flatMap((check) => check.breaks);
    expect(breaks).toEqual([]);
  }, CLEAN_MS);
}

async function set(id: string, values: Statement): Promise<void> {
  await admin.query(sql`update charges.refunds set ${values} where id = ${id}`);
}

test('refunds of every end are clean, and each injected difference is shown as its kind', async () => {
  const charge = await charges.aPaidCharge();
  const { id } = await charges.refund(charge.id, { amount: 500 });
  await charges.ended(id);
  await charges.faults({ operation: 'settleRefund', fault: 'refusal', count: 1 });
  const failed = await charges.refund(charge.id, { amount: 300 });
  await charges.ended(failed.id);
  await untilClean();
  expect(await breaksOf()).toEqual([]);

  await set(id, sql`amount = 499`);
  expect(await breaksOf()).toMatchObject([{ kind: 'amount', id, expected: '500', amount: -1 }]);
  await set(id, sql`amount = 500`);

  await set(failed.id, sql`status = 'completed', failure_reason = null, completed_at = now()`);
  expect((await breaksOf()).map(({ kind, id: of }) => [kind, of]).toSorted()).toEqual([
    ['state', failed.id],
    ['unbooked', failed.id],
  ]);
  await set(failed.id, sql`status = 'failed', failure_reason = 'x', completed_at = null`);
  expect(await breaksOf()).toEqual([]);

  await admin.query(sql`
    update charges.charges set refunded_amount = 400 where id = ${charge.id}`);
  expect(await breaksOf()).toMatchObject([
    { kind: 'sum', id: charge.id, expected: '500', found: '400', amount: -100 },
  ]);
  await admin.query(sql`
    update charges.charges set refunded_amount = 500 where id = ${charge.id}`);
  expect(await breaksOf()).toEqual([]);
});

test('a hold without its refund, a refund without its hold, and a refund that is not at the acquirer', async () => {
  const charge = await charges.aPaidCharge();
  const holdId = newId();
  await charges.ledger.ask(`PUT /internal/holds/${holdId}`, null, {
    account_id: charge.accountId,
    resource_id: newId(),
    kind: 'refund',
    amount: 200,
    fee: 0,
    end_to_end_id: charge.endToEndId,
  });
  expect(await breaksOf()).toMatchObject([{ kind: 'missing_right', id: holdId, amount: 200 }]);
  const id = newId();
  await admin.query(sql`
    insert into charges.refunds (
      id, charge_id, account_id, end_to_end_id, amount, status, hold_id, requested_by, fingerprint
    )
    values (
      ${id}, ${charge.id}, ${charge.accountId}, ${charge.endToEndId}, 200, 'processing', ${newId()}, ${newId()}, '\\x00'
    )`);
  expect((await breaksOf()).map(({ kind, id: of }) => [kind, of]).toSorted()).toEqual([
    ['missing_left', id],
    ['missing_right', holdId],
  ]);
  await set(id, sql`hold_id = ${holdId}`);
  expect(await breaksOf()).toEqual([]);
  await set(
    id,
    sql`status = 'completed', completed_at = now(), ended_at = now(), first_put_at = now()`,
  );
  expect((await breaksOf()).map(({ kind, id: of }) => [kind, of]).toSorted()).toEqual([
    ['missing_left', id],
    ['state', id],
    ['unbooked', id],
  ]);
});
