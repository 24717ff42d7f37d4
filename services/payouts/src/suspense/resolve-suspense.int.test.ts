import { type AccountId, newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { type SimulatorProcess, startSimulatorProcess } from '@pixmesh/testkit/simulator-process';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import { type Contradiction, suspenseItemId } from '#payouts/ledger-commands.ts';
import { isVisible, type PayoutRow } from '#payouts/payout-row.ts';
import { suspendContradiction } from '#settlement/suspend-contradiction.ts';
import type { Json } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';
import { storePayout } from '#test/store-payout.ts';

let simulator: SimulatorProcess;
let mesh: PayoutsUnderTest;
beforeAll(async () => {
  simulator = await startSimulatorProcess();
  const acquirer = { ACQUIRER_URL: simulator.url, ACQUIRER_TIMEOUT_MS: '4000' };
  mesh = await startPayoutsUnderTest(acquirer);
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
  await simulator[Symbol.asyncDispose]();
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
  await simulator.control('POST', '/control/sends', { amount: AMOUNT, id_envio: toAcquirerId(id) });
  if (contradiction === 'failed_after_completed') await turn(id, 'NAO_REALIZADO');
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

/** What the acquirer says of the order from now on. */
async function turn(id: string, status: 'REALIZADO' | 'NAO_REALIZADO'): Promise<void> {
  await simulator.control('POST', `/control/sends/${id}/contradict`, { status });
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

async function resolutionsOf({ id }: Item): Promise<object[]> {
  return await mesh.db.query(sql`select from suspense_resolutions where item_id = ${id}`);
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

test('is accepted only while the acquirer confirms that it stayed; a decision that stands is repeated all the same', async () => {
  const item = await anItem('failed_after_completed');
  await turn(item.payout.id, 'REALIZADO');
  const settled = await resolve(item, { action: 'accept' });
  expect([settled.status, settled.body.code]).toEqual([409, 'CONFLICT']);
  expect(settled.body.message).toMatch(/does not confirm/);
  await turn(item.payout.id, 'NAO_REALIZADO');
  const rules = [{ operation: 'getPayout', fault: 'error_before', status: 503 }];
  await simulator.control('PUT', '/control/faults', { seed: 1, rules });
  const unknown = await resolve(item, { action: 'accept' });
  await simulator.control('DELETE', '/control/faults');
  expect([unknown.status, unknown.body.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(await resolutionsOf(item)).toEqual([]);
  expect((await shown(item)).resolved_at).toBeNull();
  expect((await resolve(item, { action: 'accept' })).status).toBe(202);
  await turn(item.payout.id, 'REALIZADO');
  const repeated = await resolve(item, { action: 'accept' });
  expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
});

test('is not accepted where money of the payout came back and is credited: it would be paid twice', async () => {
  const item = await anItem('failed_after_completed');
  await mesh.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    values (${newId()}, 'D1', ${item.payout.id}, ${item.payout.accountId}, 400)`);
  const answer = await resolve(item, { action: 'accept' });
  expect([answer.status, answer.body.code]).toEqual([409, 'CONFLICT']);
  expect(answer.body.message).toMatch(/came back and is credited/);
  expect(await resolutionsOf(item)).toEqual([]);
  expect((await shown(item)).resolved_at).toBeNull();
});

test('is not accepted where an order that the acquirer had accepted is unknown there now', async () => {
  const { id } = await storePayout(mesh.db, { status: 'completed' });
  await mesh.db.query(sql`
    update payouts set processed_at = now(), contradiction = 'failed_after_completed' where id = ${id}`);
  const payout = (await mesh.row(id)) as PayoutRow;
  const item = { id: suspenseItemId(payout) ?? '', payout };
  const answer = await resolve(item, { action: 'accept' });
  expect([answer.status, answer.body.code]).toEqual([409, 'CONFLICT']);
  expect(await resolutionsOf(item)).toEqual([]);
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
  expect(await resolutionsOf(item)).toEqual([]);
  const { accountId: account_id } = item.payout;
  expect((await resolve(item, { action: 'accept', account_id })).status).toBe(202);
});

test('no message of it all was refused', async () => {
  expect(await mesh.db.query(sql`select code, reason from dead_letters`)).toEqual([]);
});
