import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { type PayoutsAtAcquirer, startPayoutsAtAcquirer } from '#test/payouts-under-test.ts';

/** Payouts that wait for an approval which a restored database has lost: the acquirer may have carried them out. */

let payouts: PayoutsAtAcquirer;
beforeAll(async () => {
  payouts = await startPayoutsAtAcquirer();
});
afterEach(async () => {
  await payouts.simulator.control('DELETE', '/control/faults');
});
afterAll(() => payouts[Symbol.asyncDispose]());

const { settings } = aCaller();

async function aPendingPayout() {
  const accountId = newId();
  await payouts.ledger.fund(accountId, 5_000);
  const created = await payouts.request(null, `POST /internal/accounts/${accountId}/payouts`, {
    operator_id: newId(),
    creation_id: newId(),
    settings,
    body: { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' },
  });
  return { accountId, id: created.body.id as string };
}

/** The acquirer has carried out an order of it. */
async function order(id: string): Promise<void> {
  const send = { amount: 1_000, id_envio: toAcquirerId(id) };
  await payouts.simulator.control('POST', '/control/sends', send);
}

async function act(id: string, verb: string) {
  const asked = { operator_id: newId(), settings };
  return await payouts.request(null, `POST /internal/payouts/${id}/${verb}`, asked);
}

async function ordersOf(accountId: string): Promise<string[]> {
  return (await payouts.eventsOf(accountId)).map(({ type }) => type);
}

test('one that the acquirer has carried out is not canceled, and its money stays held', async () => {
  const { id, accountId } = await aPendingPayout();
  await order(id);
  const refused = await act(id, 'cancel');
  expect(refused).toMatchObject({ status: 409, body: { code: 'CONFLICT', details: ['status'] } });
  expect((await payouts.row(id))?.status).toBe('pending');
  expect(await ordersOf(accountId)).toEqual([]);
});

test('one that the acquirer has rejected is canceled', async () => {
  const { id, accountId } = await aPendingPayout();
  await order(id);
  const rejected = { status: 'NAO_REALIZADO' };
  await payouts.simulator.control('POST', `/control/sends/${id}/contradict`, rejected);
  expect((await act(id, 'cancel')).status).toBe(200);
  expect(await ordersOf(accountId)).toEqual(['hold.release']);
});

test('one is not canceled while the acquirer does not answer', async () => {
  const { id, accountId } = await aPendingPayout();
  await payouts.simulator.control('PUT', '/control/faults', {
    seed: 1,
    rules: [{ operation: 'getPayout', fault: 'error_before', status: 503 }],
  });
  expect((await act(id, 'cancel')).status).toBe(500);
  expect((await payouts.row(id))?.status).toBe('pending');
  expect(await ordersOf(accountId)).toEqual([]);
});

test('a status check answers whether the acquirer has an order of one, and changes nothing', async () => {
  const { id, accountId } = await aPendingPayout();
  const before = await payouts.row(id);
  expect((await act(id, 'check')).body).toMatchObject({ acquirer: { answer: 'not_found' } });
  await order(id);
  expect((await act(id, 'check')).body).toMatchObject({ acquirer: { answer: 'found' } });
  const { status, version, nextCheckAt } = (await payouts.row(id)) ?? {};
  expect({ status, version, nextCheckAt }).toEqual({
    status: 'pending',
    version: before?.version,
    nextCheckAt: null,
  });
  expect(await ordersOf(accountId)).toEqual([]);
});
