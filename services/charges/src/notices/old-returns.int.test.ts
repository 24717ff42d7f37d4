import type { Break, ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { readListRound } from '@pixmesh/testkit/read-list-round';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

/** Nothing is read but when a test asks for it, and no callback of a return reaches the service. */
let charges: RefundsUnderTest;
/** The acquirer's own tables: no call of it changes a return that has ended. */
let provider: Database;

beforeAll(async () => {
  charges = await startRefundsUnderTest({
    RECONCILIATION_WINDOW_MS: '1',
    RECONCILIATION_MS: '3600000',
  });
  const { databaseUrl: url } = charges.simulator;
  provider = createPool({ url, applicationName: 'test', max: 2 });
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await charges[Symbol.asyncDispose]();
});

const PATIENCE_MS = 20_000;
const DAY_MS = 86_400_000;

/** The acquirer’s record of a Pix moves into the past, and so do ours: it is none that any run reads as new. */
async function age(endToEndId: string, days: number): Promise<void> {
  const paidAt = new Date(Date.now() - days * DAY_MS);
  await provider.query(
    sql`update received_pix set paid_at = ${paidAt} where end_to_end_id = ${endToEndId}`,
  );
  const admin = createPool({ url: charges.adminUrl, applicationName: 'test', max: 1 });
  await admin.query(
    sql`update charges.received_pix set paid_at = ${paidAt} where end_to_end_id = ${endToEndId}`,
  );
  await admin.query(
    sql`update charges.pix_returns set seen_at = ${paidAt} where end_to_end_id = ${endToEndId}`,
  );
  await admin[Symbol.asyncDispose]();
}

async function turn(refundId: string, status: 'DEVOLVIDO' | 'NAO_REALIZADO'): Promise<void> {
  const rows = await provider.query(sql`
    update received_returns
    set status = ${status}, settled_at = case when ${status} = 'DEVOLVIDO' then now() end
    where id = ${toAcquirerId(refundId)}
    returning id`);
  expect(rows).toHaveLength(1);
}

/** What two incremental runs show. */
async function breaks(): Promise<Break[]> {
  const route = 'POST /internal/reconciliation';
  await charges.request(null, route, { full: false });
  const { body, status } = await charges.request(null, route, { full: false });
  expect(status).toBe(200);
  return (body as ReconciliationReport).checks.flatMap((check) => check.breaks);
}

test('a return of a Pix of 100 days ago that no callback announced is booked', async () => {
  const charge = await charges.aPaidCharge();
  await age(charge.endToEndId, 100);
  await charges.simulator.control('POST', `/control/pix/${charge.endToEndId}/returns`, {
    natureza: 'ORIGINAL',
  });
  await readListRound(charges.db, 'received.returned');
  await eventually(async () => {
    expect((await charges.charge(charge.id)).status).toBe('refunded');
  }, PATIENCE_MS);
});

test('a refund that had failed and went back after all is booked as a return', async () => {
  const charge = await charges.aPaidCharge();
  await charges.faults({ operation: 'settleRefund', fault: 'refusal', count: 1 });
  const { id } = await charges.refund(charge.id, { amount: 300 });
  expect((await charges.ended(id)).status).toBe('failed');
  await age(charge.endToEndId, 60);
  await turn(id, 'DEVOLVIDO');
  await readListRound(charges.db, 'received.returned');
  await eventually(async () => {
    expect((await charges.charge(charge.id)).refundedAmount).toBe(300n);
  }, PATIENCE_MS);
  await charges.balanceIs(charge.accountId, { available: charge.amount - 300 });
});

test('a refund that was carried out and is not any more is a break until it is again', async () => {
  const charge = await charges.aPaidCharge();
  const { id } = await charges.refund(charge.id, { amount: 500 });
  expect((await charges.ended(id)).status).toBe('completed');
  await age(charge.endToEndId, 60);
  const ofRefund = async (): Promise<[string, string][]> => {
    const found = await breaks();
    return found
      .filter((item) => item.id === id || item.id.startsWith(charge.endToEndId))
      .map((item): [string, string] => [item.kind, item.id])
      .toSorted();
  };
  // As after a run that has compared everything.
  await charges.request(null, 'POST /internal/reconciliation', { full: true });
  expect(await ofRefund()).toEqual([]);

  await turn(id, 'NAO_REALIZADO');
  await readListRound(charges.db, 'received.returned');
  const key = `${charge.endToEndId}/${toAcquirerId(id)}`;
  expect(await ofRefund()).toEqual([
    ['missing_left', key],
    ['state', id],
  ]);
  // Neither the refund nor its money moves: an operator has to act.
  expect((await charges.row(id))?.status).toBe('completed');
  expect((await charges.charge(charge.id)).refundedAmount).toBe(500n);

  await turn(id, 'DEVOLVIDO');
  await readListRound(charges.db, 'received.returned');
  expect(await ofRefund()).toEqual([]);
  expect(await charges.db.query(sql`select from return_contradictions`)).toEqual([]);
});
