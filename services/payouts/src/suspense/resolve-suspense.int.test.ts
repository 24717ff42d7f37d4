import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import { type Contradiction, suspenseItemId } from '#payouts/ledger-commands.ts';
import { isVisible, type PayoutRow } from '#payouts/payout-row.ts';
import { suspendContradiction } from '#settlement/suspend-contradiction.ts';
import type { Json } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';
import { storePayout } from '#test/store-payout.ts';

let mesh: PayoutsUnderTest;
beforeAll(async () => {
  mesh = await startPayoutsUnderTest();
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

const AMOUNT = 1_000;
const PATIENCE_MS = 20_000;
const OF = { failed_after_completed: 'completed', completed_after_failed: 'failed' } as const;

type Item = { id: string; payout: PayoutRow };

/** A payout that the acquirer contradicts, its money in the ledger's suspense. */
async function anItem(
  contradiction: Contradiction,
  endToEndId: string | null = `E${newId().replaceAll('-', '').slice(1)}`,
): Promise<Item> {
  const { id } = await storePayout(mesh.db, { status: OF[contradiction], endToEndId });
  const payout = (await mesh.row(id)) as PayoutRow;
  if (!isVisible(payout)) throw new Error('an intent is not contradicted');
  const checks = { firstMs: 1_000, maxMs: 1_000 };
  const logger = createLogger('test', 'silent');
  const moves = createPayoutMoves(mesh.db);
  const deps = { db: mesh.db, moves, logger, wakeOutbox: () => undefined, acceptedChecks: checks };
  expect(await suspendContradiction(deps, payout, contradiction)).toBe(true);
  const row = (await mesh.row(id)) as PayoutRow;
  const item = { id: suspenseItemId(row) ?? '', payout: row };
  await eventually(async () => expect((await shown(item)).resolved_at).toBeNull(), PATIENCE_MS);
  return item;
}

async function shown(item: Item): Promise<Json> {
  return await mesh.ledger.ask(`GET /internal/suspense/${item.id}`, null);
}

async function resolve(item: Item, body: object, id = item.id): Promise<Json> {
  const { accountId: account_id, endToEndId: end_to_end_id } = item.payout;
  const about = { account_id, end_to_end_id, charge_id: null, payout_id: item.payout.id };
  const asked = { account_id: null, operator_id: newId(), item: { ...about, amount: AMOUNT } };
  const route = `POST /internal/suspense/${id}/resolve`;
  return await mesh.request(null, route, { ...asked, ...body });
}

test('what stayed although its payout had completed is accepted for its owner, once', async () => {
  for (const endToEndId of [undefined, null]) {
    const item = await anItem('failed_after_completed', endToEndId);
    const answers = await Promise.all([1, 2, 3, 4].map(() => resolve(item, { action: 'accept' })));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const repeats = answers.filter(({ headers }) => headers.has('idempotent-replayed'));
    expect(repeats).toHaveLength(3);
    expect(answers[0].body).toMatchObject({
      object: 'suspense_resolution',
      action: 'accept',
      account_id: item.payout.accountId,
      amount: AMOUNT,
    });
    await eventually(async () => {
      expect(await mesh.ledger.available(item.payout.accountId)).toBe(AMOUNT);
      expect((await shown(item)).resolved_at).not.toBeNull();
      expect((await resolve(item, { action: 'accept' })).body.status).toBe('completed');
    }, PATIENCE_MS);
    expect(await mesh.row(item.payout.id)).toMatchObject({
      status: 'completed',
      contradiction: 'failed_after_completed',
    });
  }
});

test('is never returned, and what has left is never accepted: the answer says why', async () => {
  const stayed = await anItem('failed_after_completed');
  const returned = await resolve(stayed, { action: 'return' });
  expect([returned.status, returned.body.code]).toEqual([409, 'CONFLICT']);
  expect(returned.body.message).toMatch(/never returned/);
  const left = await anItem('completed_after_failed');
  expect((await resolve(left, { action: 'return' })).body.message).toMatch(/never returned/);
  const accepted = await resolve(left, { action: 'accept' });
  expect([accepted.status, accepted.body.code]).toEqual([409, 'CONFLICT']);
  expect(accepted.body.message).toMatch(/has left/);
  for (const item of [stayed, left]) expect((await shown(item)).resolved_at).toBeNull();
  expect((await resolve(stayed, { action: 'accept' })).status).toBe(202);
});

test('goes to no other account, and only its own items are known', async () => {
  const item = await anItem('failed_after_completed');
  const foreign = await resolve(item, { action: 'accept', account_id: newId<AccountId>() });
  expect([foreign.status, foreign.body.details]).toEqual([400, ['account_id']]);
  const unknown = await resolve(item, { action: 'accept' }, newId());
  expect([unknown.status, unknown.body.code]).toEqual([404, 'NOT_FOUND']);
  const { id } = await storePayout(mesh.db, { status: 'completed' });
  const other = { ...item, payout: { ...item.payout, id } };
  expect((await resolve(other, { action: 'accept' })).status).toBe(404);
  const tenant = await mesh.request(aCaller(), `POST /internal/suspense/${item.id}/resolve`, {});
  expect(tenant.status).toBe(401);
  expect(
    await mesh.db.query(sql`select from suspense_resolutions where item_id = ${item.id}`),
  ).toEqual([]);
  const { accountId: account_id } = item.payout;
  expect((await resolve(item, { action: 'accept', account_id })).status).toBe(202);
});

test('no message of it all was refused', async () => {
  expect(await mesh.db.query(sql`select code, reason from dead_letters`)).toEqual([]);
});
