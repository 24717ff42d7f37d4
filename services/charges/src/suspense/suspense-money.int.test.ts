import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { reconcile } from '@pixmesh/testkit/reconcile';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Json } from '#test/charges-under-test.ts';
import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

/** Suspense beside a real ledger and a real simulator: the three agree to the cent. */
let charges: RefundsUnderTest;
beforeAll(async () => {
  charges = await startRefundsUnderTest({
    RECONCILIATION_WINDOW_MS: '1',
    RECONCILIATION_MS: '3600000',
  });
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const PATIENCE_MS = 20_000;

type Item = { id: string; accountId: string; end_to_end_id: string };

/** A wrong amount for a charge. */
async function anItem(amount: number): Promise<Item> {
  const { id: chargeId, accountId } = await charges.aPendingCharge();
  const pay = `/control/charges/${toAcquirerId(chargeId)}/pay`;
  const { end_to_end_id }: Json = await charges.simulator.control('POST', pay, { amount });
  await charges.announce(chargeId);
  const item = { id: receivedPixCommandId(end_to_end_id), accountId, end_to_end_id };
  await standsFor(item, amount);
  return item;
}

async function standsFor(item: Item, amount: number): Promise<void> {
  await eventually(async () => {
    const row: Json = await charges.ledger.ask(`GET /internal/suspense/${item.id}`, null);
    expect([row.amount, row.resolved_at]).toEqual([amount, null]);
  }, PATIENCE_MS);
}

async function partReturned(item: Item, amount: number): Promise<void> {
  const path = `/control/pix/${item.end_to_end_id}/returns`;
  await charges.simulator.control('POST', path, { amount, natureza: 'ORIGINAL' });
  await charges.announceItem({ endToEndId: item.end_to_end_id });
}

async function resolve(item: Item, action: 'accept' | 'return'): Promise<Json> {
  const route = `POST /internal/suspense/${item.id}/resolve`;
  const { accountId: account_id, end_to_end_id } = item;
  const shown = { account_id, end_to_end_id, charge_id: null, amount: 1 };
  const body = { action, account_id: null, operator_id: newId(), item: shown };
  return (await charges.request(null, route, body)).body;
}

async function completed(item: Item): Promise<void> {
  await eventually(async () => {
    const row: Json = await charges.ledger.ask(`GET /internal/suspense/${item.id}`, null);
    expect(row.resolved_at).not.toBeNull();
    const statuses = await charges.db.query(
      sql`select status from suspense_resolutions where item_id = ${item.id}`,
    );
    expect(statuses).toEqual([{ status: 'completed' }]);
  }, PATIENCE_MS);
}

test('of items that went back in parts, ledger, charges and acquirer agree to the cent', async () => {
  const [accepted, returned, gone] = [await anItem(700), await anItem(701), await anItem(702)];
  await partReturned(accepted, 300);
  await standsFor(accepted, 400);
  expect(await resolve(accepted, 'accept')).toMatchObject({ amount: 400 });
  await partReturned(returned, 1);
  await partReturned(returned, 300);
  await standsFor(returned, 400);
  expect(await resolve(returned, 'return')).toMatchObject({ amount: 400 });
  await partReturned(gone, 2);
  await standsFor(gone, 700);
  await partReturned(gone, 700);
  for (const item of [accepted, returned, gone]) await completed(item);
  await charges.balanceIs(accepted.accountId, { available: 400 });
  await charges.balanceIs(returned.accountId, { available: 0 });
  await charges.balanceIs(gone.accountId, { available: 0 });
  expect(await charges.returnsOf(returned.end_to_end_id)).toEqual([1, 300, 400]);
  await eventually(async () => {
    const report = await reconcile((route, body) => charges.request(null, route, body), true);
    expect(report.checks.flatMap(({ breaks }) => breaks)).toEqual([]);
  }, PATIENCE_MS);
  expect(await charges.db.query(sql`select code, reason from dead_letters`)).toEqual([]);
});
