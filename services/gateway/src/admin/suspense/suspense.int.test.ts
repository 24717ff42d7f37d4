import { ResolveSuspenseRequest } from '@pixmesh/contracts/internal/suspense';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

const END_TO_END_ID = 'E12345678202611201531a1b2c3d4e5f';

let gateway: TestGateway;
let accountId: string;
let itemId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ accountId } = await gateway.createTenant());
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  itemId = newId();
  gateway.owners.charges.requests.length = 0;
  gateway.owners.payouts.requests.length = 0;
  showItem();
  answerAs(202);
});

/** The ledger shows the item. */
function showItem(changes: object = {}): void {
  const item = {
    id: itemId,
    object: 'suspense_item',
    account_id: accountId,
    end_to_end_id: END_TO_END_ID,
    charge_id: newId(),
    payout_id: null,
    amount: 12_345,
    reason: 'wrong_amount',
    created_at: '2026-11-21T12:00:00.000Z',
    resolved_at: null,
    ...changes,
  };
  gateway.owners.ledger.requests.length = 0;
  gateway.owners.ledger.answerWith((response) => answerJson(response, 200, { body: item }));
}

const RESOLUTION = { id: newId(), object: 'suspense_resolution', status: 'processing' };

function answerAs(status: number, body: object = RESOLUTION, headers = {}): void {
  gateway.owners.charges.answerWith((response) => answerJson(response, status, { body, headers }));
}

function resolve(body: object) {
  return gateway.admin('POST', `/admin/suspense/${itemId}/resolve`, { body });
}

function asked(): ReturnType<typeof ResolveSuspenseRequest.parse> {
  const seen = gateway.owners.charges.requests.at(-1);
  expect(seen).toMatchObject({ method: 'POST', url: `/internal/suspense/${itemId}/resolve` });
  return ResolveSuspenseRequest.parse(JSON.parse(String(seen?.body)));
}

async function readActions(): Promise<unknown[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${itemId}`);
  return (audit.json['data'] as { action: string }[]).map(({ action }) => action);
}

describe('resolving an item of suspense', () => {
  test('asks the service that booked it, with the item as the ledger shows it', async () => {
    const answer = await resolve({ action: 'return' });
    expect(answer).toMatchObject({ status: 202, json: RESOLUTION });
    expect(gateway.owners.ledger.requests).toMatchObject([
      { method: 'GET', url: `/internal/suspense/${itemId}` },
    ]);
    expect(asked()).toMatchObject({
      action: 'return',
      account_id: null,
      item: { account_id: accountId, end_to_end_id: END_TO_END_ID, amount: 12_345n },
    });
    expect(gateway.owners.charges.requests.at(-1)?.claims).toEqual(forOperator());
    expect(await readActions()).toEqual([
      'suspense.resolution_accepted',
      'suspense.resolution_requested',
    ]);
  });

  test('gives money that nobody owned to an account that exists', async () => {
    showItem({ account_id: null, charge_id: null });
    expect((await resolve({ action: 'accept', account_id: accountId })).status).toBe(202);
    expect(asked()).toMatchObject({
      action: 'accept',
      account_id: accountId,
      item: { account_id: null, charge_id: null },
    });
  });

  test('and to no other', async () => {
    showItem({ account_id: null, charge_id: null });
    for (const account_id of [newId(), 'x', 1]) {
      const answer = await resolve({ action: 'accept', account_id });
      expect(answer).toMatchObject({
        status: 400,
        json: { code: 'VALIDATION_ERROR', details: ['account_id'] },
      });
    }
    expect(gateway.owners.charges.requests).toEqual([]);
    expect(await readActions()).toEqual([]);
  });

  test.each([{}, { action: 'keep' }, { action: null }])(
    'knows no other action: %j',
    async (body) => {
      expect((await resolve(body)).json['details']).toEqual(['action']);
    },
  );

  test.each([
    [400, { code: 'VALIDATION_ERROR', message: 'x', details: ['account_id'] }],
    [409, { code: 'CONFLICT', message: 'x', details: [] }],
  ])('is refused in the words of its owner: %i', async (status, refusal) => {
    answerAs(status, refusal);
    expect(await resolve({ action: 'accept' })).toMatchObject({ status, json: refusal });
    expect(await readActions()).toEqual(['suspense.resolution_requested']);
  });

  test('that was resolved before is its owner’s to answer, and nothing is recorded', async () => {
    showItem({ resolved_at: '2026-11-21T13:00:00.000Z' });
    answerAs(202, RESOLUTION, { 'idempotent-replayed': 'true' });
    const answer = await resolve({ action: 'accept' });
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([202, 'true']);
    expect(await readActions()).toEqual([]);
  });

  test.each([
    ['that stayed', { end_to_end_id: null, amount: 12_345 }],
    ['that left', { amount: -12_345 }],
  ])('of a payout is asked of payouts, with money %s', async (_name, changes) => {
    const payout_id = newId();
    showItem({ payout_id, charge_id: null, ...changes });
    gateway.owners.payouts.answerWith((response) =>
      answerJson(response, 202, { body: RESOLUTION }),
    );
    expect(await resolve({ action: 'accept' })).toMatchObject({ status: 202, json: RESOLUTION });
    const { method, url, body } = gateway.owners.payouts.requests[0] ?? {};
    expect([method, url]).toEqual(['POST', `/internal/suspense/${itemId}/resolve`]);
    const { item } = ResolveSuspenseRequest.parse(JSON.parse(String(body)));
    expect(item).toMatchObject({ payout_id, amount: BigInt(changes.amount) });
    expect(gateway.owners.charges.requests).toEqual([]);
    expect(await readActions()).toHaveLength(2);
  });

  test('of a payout is refused in the words of payouts', async () => {
    showItem({ payout_id: newId(), charge_id: null });
    const refusal = { code: 'CONFLICT', message: 'never returned', details: [] };
    gateway.owners.payouts.answerWith((response) => answerJson(response, 409, { body: refusal }));
    expect(await resolve({ action: 'return' })).toMatchObject({ status: 409, json: refusal });
    expect(await readActions()).toEqual(['suspense.resolution_requested']);
  });

  test('that the ledger does not know is a 404, whatever the body says', async () => {
    const refusal = { code: 'NOT_FOUND', message: 'x', details: [] };
    gateway.owners.ledger.answerWith((response) => answerJson(response, 404, { body: refusal }));
    expect(await resolve({})).toMatchObject({ status: 404, json: refusal });
  });

  test('is a 500 while the ledger or the owner is away', async () => {
    gateway.owners.charges.answerWith((response) => response.destroy());
    expect((await resolve({ action: 'return' })).status).toBe(500);
    expect(await readActions()).toEqual(['suspense.resolution_requested']);
    gateway.owners.ledger.answerWith((response) => response.destroy());
    expect((await resolve({ action: 'return' })).status).toBe(500);
    expect(await readActions()).toHaveLength(1);
  });
});
