import { ApprovePayoutBody } from '@pixmesh/contracts/internal/operator-payouts';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { BOOTSTRAP_OPERATOR_ID } from '#admin/authenticate-operator.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

let gateway: TestGateway;
let accountId: string;
let payoutId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ accountId } = await gateway.createTenant({ account: { payout_fee: 55 } }));
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.owners.payouts.requests.length = 0;
  payoutId = newId();
});

function aPayout(changes: object = {}): object {
  const queued = { status: 'pending', approved_by: null };
  return { id: payoutId, object: 'payout', account_id: accountId, ...queued, ...changes };
}

/** The owner shows the payout as `before`, and answers the decision as told. */
function answerDecision(before: object, status: number, after: object, headers = {}): void {
  gateway.owners.payouts.answerWith((response, { method }) => {
    if (method === 'GET') answerJson(response, 200, { body: before });
    else answerJson(response, status, { body: after, headers });
  });
}

function decide(decision: 'approve' | 'cancel', headers: readonly string[] = []) {
  return gateway.admin('POST', `/admin/payouts/${payoutId.toUpperCase()}/${decision}`, { headers });
}

async function readAudit(): Promise<Record<string, unknown>[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${payoutId}`);
  return audit.json['data'] as Record<string, unknown>[];
}

async function readActions(): Promise<unknown[]> {
  return (await readAudit()).map((entry) => entry['action']);
}

describe('a status check', () => {
  const check = () => gateway.admin('POST', `/admin/payouts/${payoutId}/check`);

  test.each(['pending', 'processing'])(
    'of a payout (%s) is asked of its owner and recorded',
    async (status) => {
      const resource = aPayout({ status: 'completed' });
      const after = { id: payoutId, object: 'status_check', acquirer: null, resource };
      answerDecision(aPayout({ status }), 200, after);
      expect(await check()).toMatchObject({ status: 200, json: after });
      expect(await readActions()).toEqual(['payout.checked', 'payout.check_requested']);
    },
  );

  test('of one that is canceled is refused by its owner, and nothing is recorded', async () => {
    const refusal = { code: 'CONFLICT', message: 'x', details: ['status'] };
    answerDecision(aPayout({ status: 'canceled' }), 409, refusal);
    expect(await check()).toMatchObject({ status: 409, json: refusal });
    expect(await readActions()).toEqual([]);
  });
});

describe('approving a payout', () => {
  test('asks its owner with the operator and the settings of this moment', async () => {
    const operator = await gateway.admin('POST', '/admin/operators', { body: { name: 'Bia' } });
    const operatorId = String(operator.json['id']);
    const settings = { payouts_enabled: false, status: 'inactive' };
    await gateway.admin('PATCH', `/admin/accounts/${accountId}`, { body: settings });
    const after = aPayout({ status: 'processing', approved_by: operatorId });
    answerDecision(aPayout(), 200, after);
    const answer = await decide('approve', ['X-Operator', operatorId]);
    expect(answer).toMatchObject({ status: 200, json: after });
    const [read, approval] = gateway.owners.payouts.requests;
    expect(read?.method).toBe('GET');
    expect(approval).toMatchObject({
      method: 'POST',
      url: `/internal/payouts/${payoutId}/approve`,
    });
    const body = ApprovePayoutBody.parse(JSON.parse(String(approval?.body)));
    expect(body).toMatchObject({ settings });
    expect(approval?.claims).toEqual(forOperator(operatorId));
    const [approved, asked] = await readAudit();
    expect(asked).toMatchObject({ action: 'payout.approval_requested', actor: operatorId });
    expect(approved).toMatchObject({
      action: 'payout.approved',
      actor: operatorId,
      digest_before: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(approved?.['digest_after']).not.toBe(approved?.['digest_before']);
  });

  test('that another operator was faster to approve is not this one’s approval', async () => {
    const approved = aPayout({ status: 'processing', approved_by: newId() });
    answerDecision(aPayout(), 200, approved, { 'idempotent-replayed': 'true' });
    expect((await decide('approve')).status).toBe(200);
    expect(await readActions()).toEqual(['payout.approval_requested']);
  });

  test('that left the queue before is answered by its owner, and nothing is recorded', async () => {
    const done = aPayout({ status: 'processing', approved_by: BOOTSTRAP_OPERATOR_ID });
    answerDecision(done, 200, done);
    expect(await decide('approve')).toMatchObject({ status: 200, json: done });
    expect(await readActions()).toEqual([]);
  });

  test.each([
    [409, 'PAYOUT_NOT_PENDING'],
    [422, 'APPROVER_MUST_DIFFER'],
    [422, 'PAYOUTS_DISABLED'],
  ])('is refused in the words of the owner: %i %s', async (status, code) => {
    const refusal = { code, message: 'x', details: [] };
    answerDecision(aPayout(), status, refusal);
    expect(await decide('approve')).toMatchObject({ status, json: refusal });
    expect(await readActions()).toEqual(['payout.approval_requested']);
  });

  test('of an account that nobody knows is a 404', async () => {
    answerDecision(aPayout({ account_id: newId() }), 200, aPayout());
    expect((await decide('approve')).json).toMatchObject({ code: 'NOT_FOUND' });
    expect(gateway.owners.payouts.requests.map(({ method }) => method)).toEqual(['GET']);
  });
});

describe('canceling a payout', () => {
  test('asks its owner and is recorded', async () => {
    const after = aPayout({ status: 'canceled' });
    answerDecision(aPayout(), 200, after);
    expect(await decide('cancel')).toMatchObject({ status: 200, json: after });
    const request = gateway.owners.payouts.requests.at(-1);
    expect(request?.url).toBe(`/internal/payouts/${payoutId}/cancel`);
    expect(request?.claims).toEqual(forOperator());
    expect(await readActions()).toEqual(['payout.canceled', 'payout.cancellation_requested']);
  });

  test('that is being sent is refused', async () => {
    const refusal = { code: 'PAYOUT_NOT_PENDING', message: 'x', details: [] };
    answerDecision(aPayout({ status: 'processing' }), 409, refusal);
    expect(await decide('cancel')).toMatchObject({ status: 409, json: refusal });
  });
});

describe.each(['approve', 'cancel'] as const)('%s', (decision) => {
  test('of an unknown payout is the owner’s 404', async () => {
    const refusal = { code: 'PAYOUT_NOT_FOUND', message: 'x', details: [] };
    gateway.owners.payouts.answerWith((response) => answerJson(response, 404, { body: refusal }));
    expect(await decide(decision)).toMatchObject({ status: 404, json: refusal });
    expect(gateway.owners.payouts.requests).toHaveLength(1);
  });

  test('is a 500 while the owner is away, and recorded once it was asked for', async () => {
    gateway.owners.payouts.answerWith((response) => response.destroy());
    expect((await decide(decision)).status).toBe(500);
    expect(await readActions()).toEqual([]);
    gateway.owners.payouts.answerWith((response, { method }) => {
      if (method === 'GET') answerJson(response, 200, { body: aPayout() });
      else response.destroy();
    });
    expect(await decide(decision)).toMatchObject({
      status: 500,
      json: { code: 'INTERNAL_ERROR', details: [] },
    });
    expect(await readActions()).toHaveLength(1);
  });

  test('of an answer that is no payout is a 500', async () => {
    answerDecision({ object: 'charge' }, 200, {});
    expect((await decide(decision)).status).toBe(500);
    expect(gateway.owners.payouts.requests).toHaveLength(1);
  });
});
