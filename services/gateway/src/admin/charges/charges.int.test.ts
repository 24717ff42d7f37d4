import {
  OPERATOR_CHARGE_PATHS,
  RequestChargeBody,
  RequestRefundBody,
} from '@pixmesh/contracts/internal/operator-charges';
import { newId, uuidV5 } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { digest } from '#admin/audit/record-change.ts';
import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import {
  BOOTSTRAP_TOKEN,
  startTestGateway,
  type TestGateway,
  forOperator,
} from '#test/start-test-gateway.ts';

let gateway: TestGateway;
let accountId: string;
let chargeId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ accountId } = await gateway.createTenant({ account: { charge_expires_in: 600 } }));
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.owners.charges.requests.length = 0;
  chargeId = newId();
});

/** As it is sent: the text of the body, and headers one by one. */
function post(path: string, body?: string, headers: readonly string[] = []): Promise<Answer> {
  return sendRequest({
    port: gateway.ports.admin,
    method: 'POST',
    path,
    headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`, ...headers],
    body,
  });
}

const key = (text: string) => ['Idempotency-Key', text];

function lastSeen() {
  const seen = gateway.owners.charges.requests.at(-1);
  if (!seen) throw new Error('the owner saw no request');
  const text = seen.body.toString();
  return { ...seen, text, json: text === '' ? null : (JSON.parse(text) as object) };
}

async function readAudit(targetId: unknown): Promise<Record<string, unknown>[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${String(targetId)}`);
  return audit.json['data'] as Record<string, unknown>[];
}

async function readActions(targetId: unknown): Promise<unknown[]> {
  return (await readAudit(targetId)).map((entry) => entry['action']);
}

describe('a charge that an operator requests', () => {
  const request = (body?: string, headers: readonly string[] = []) =>
    post(`/admin/accounts/${accountId}/charges`, body, headers);

  /** Answers like the owner: the charge under the id that the gateway named. */
  function answerAs(status: number, headers: Record<string, string> = {}): void {
    gateway.owners.charges.answerWith((response, { body }) => {
      const { creation_id: id } = JSON.parse(body.toString()) as RequestChargeBody;
      answerJson(response, status, { body: { id, object: 'charge', source: 'checkout' }, headers });
    });
  }
  beforeEach(() => answerAs(201));

  test('is asked of charges with operator, settings and the body as it came', async () => {
    const answer = await request('{"amount":500,"huge":1e400}');
    expect(answer).toMatchObject({ status: 201, json: { object: 'charge', source: 'checkout' } });
    const seen = lastSeen();
    expect(seen).toMatchObject({
      method: 'POST',
      url: OPERATOR_CHARGE_PATHS.request.replace(':id', accountId),
    });
    expect(RequestChargeBody.parse(seen.json)).toMatchObject({
      creation_id: answer.json['id'],
      settings: { status: 'active', charge_expires_in: 600 },
      body: { amount: 500, huge: Infinity },
    });
    expect(seen.text).toContain('"body":{"amount":500,"huge":1e400}}');
    expect(seen.claims).toEqual(forOperator());
    expect(await readAudit(answer.json['id'])).toMatchObject([
      { action: 'charge.created', actor: 'bootstrap', target_kind: 'charge', digest_before: null },
      { action: 'charge.creation_requested', digest_after: null },
    ]);
  });

  test('has the id of its Idempotency-Key and account; a repeat is marked and recorded once', async () => {
    const first = await request('{}', key('order-0001'));
    expect(first.json['id']).toBe(uuidV5(accountId, 'charge:order-0001'));
    answerAs(201, { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' });
    const second = await request('{"amount":', key('order-0001'));
    expect(second.json['id']).toBe(first.json['id']);
    expect(second.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'idempotency-mismatch': 'true',
    });
    expect(lastSeen().json).toMatchObject({ body: null });
    expect(await readActions(first.json['id'])).toEqual([
      'charge.creation_requested',
      'charge.created',
      'charge.creation_requested',
    ]);
  });

  test('that the acquirer refuses is answered with the charge that it left behind', async () => {
    const refusal = { code: 'ACQUIRER_REJECTED', message: 'no', details: [], charge_id: chargeId };
    gateway.owners.charges.answerWith((response) => answerJson(response, 422, { body: refusal }));
    expect(await request('{}')).toMatchObject({ status: 422, json: refusal });
  });

  test('is refused with what was wrong with a body that is no JSON', async () => {
    const refusal = { code: 'VALIDATION_ERROR', message: 'x', details: ['body'] };
    gateway.owners.charges.answerWith((response) => answerJson(response, 400, { body: refusal }));
    const answer = await request('{}', ['content-type', 'text/plain']);
    expect([answer.status, answer.json['details']]).toEqual([400, ['content-type']]);
  });

  test('of an unknown account, or with a key that is too short, never reaches the owner', async () => {
    const unknown = await post(`/admin/accounts/${newId()}/charges`, '{}');
    expect(unknown).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
    const short = await request('{}', key('short'));
    expect(short.json).toMatchObject({ code: 'IDEMPOTENCY_KEY_REQUIRED' });
    expect(gateway.owners.charges.requests).toEqual([]);
  });
});

function aCharge(changes: object = {}): object {
  return { id: chargeId, object: 'charge', account_id: accountId, status: 'pending', ...changes };
}

/** The owner shows the charge as `before`, and answers a change as told. */
function answerChange(before: object, status: number, after: object, headers = {}): void {
  gateway.owners.charges.answerWith((response, { method }) => {
    if (method === 'GET') answerJson(response, 200, { body: before });
    else answerJson(response, status, { body: after, headers });
  });
}

describe('canceling a charge', () => {
  const cancel = () => post(`/admin/charges/${chargeId.toUpperCase()}/cancel`);

  test.each(['processing', 'pending', 'expired'])(
    'that is %s asks its owner and is recorded with both states',
    async (status) => {
      const after = aCharge({ status: 'canceled' });
      answerChange(aCharge({ status }), 200, after);
      expect(await cancel()).toMatchObject({ status: 200, json: after });
      const seen = lastSeen();
      expect(seen).toMatchObject({ method: 'POST', url: `/internal/charges/${chargeId}/cancel` });
      expect(seen.claims).toEqual(forOperator());
      const [canceled, asked] = await readAudit(chargeId);
      expect(asked).toMatchObject({ action: 'charge.cancellation_requested', digest_before: null });
      expect(canceled).toMatchObject({ action: 'charge.canceled', target_kind: 'charge' });
      expect(canceled?.['digest_after']).not.toBe(canceled?.['digest_before']);
    },
  );

  test('that was canceled before is answered by its owner, and nothing is recorded', async () => {
    const done = aCharge({ status: 'canceled' });
    answerChange(done, 200, done, { 'idempotent-replayed': 'true' });
    const answer = await cancel();
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(await readActions(chargeId)).toEqual([]);
  });

  test('that was paid meanwhile is refused in the words of the owner', async () => {
    const refusal = { code: 'CHARGE_NOT_PENDING', message: 'x', details: [] };
    answerChange(aCharge(), 409, refusal);
    expect(await cancel()).toMatchObject({ status: 409, json: refusal });
    expect(await readActions(chargeId)).toEqual(['charge.cancellation_requested']);
  });
});

describe('a status check', () => {
  test('of a charge is asked of its owner and recorded with the charge before and after', async () => {
    const resource = aCharge({ status: 'paid' });
    const after = { id: chargeId, object: 'status_check', acquirer: null, resource };
    answerChange(aCharge(), 200, after);
    const answer = await post(`/admin/charges/${chargeId}/check`);
    expect(answer).toMatchObject({ status: 200, json: after });
    expect(lastSeen()).toMatchObject({
      method: 'POST',
      url: `/internal/charges/${chargeId}/check`,
      claims: forOperator(),
    });
    const [checked, asked] = await readAudit(chargeId);
    expect(asked).toMatchObject({ action: 'charge.check_requested', digest_before: null });
    expect(checked).toMatchObject({
      action: 'charge.checked',
      digest_after: digest(resource)?.toString('hex'),
    });
  });
});

describe('a refund', () => {
  const REFUND = { object: 'refund', amount: 500, status: 'processing' };
  const refund = (body: string | undefined, headers: readonly string[]) =>
    post(`/admin/charges/${chargeId}/refunds`, body, headers);
  const idOf = (text: string) => uuidV5(accountId, `refund:${text}`);

  test('is asked of charges under the id of its key and of the charge’s account', async () => {
    const id = idOf('refund-0001');
    answerChange(aCharge({ status: 'paid' }), 201, { id, ...REFUND });
    const answer = await refund('{"amount":1e20}', key('refund-0001'));
    expect(answer).toMatchObject({ status: 201, json: { id, ...REFUND } });
    const [read, asked] = gateway.owners.charges.requests;
    expect(read).toMatchObject({ method: 'GET', url: `/internal/charges/${chargeId}` });
    expect(asked).toMatchObject({ method: 'POST', url: `/internal/charges/${chargeId}/refunds` });
    expect(RequestRefundBody.parse(lastSeen().json)).toEqual({
      refund_id: id,
      body: { amount: 1e20 },
    });
    expect(lastSeen().text).toContain('"body":{"amount":1e20}}');
    expect(lastSeen().claims).toEqual(forOperator());
    expect(await readAudit(id)).toMatchObject([
      { action: 'refund.created', target_kind: 'refund', digest_before: null },
      { action: 'refund.creation_requested' },
    ]);
  });

  test('that is asked for again is marked, and no second one in the audit log', async () => {
    const id = idOf('refund-0002');
    const headers = { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' };
    answerChange(aCharge({ status: 'refunded' }), 201, { id, ...REFUND }, headers);
    const answer = await refund(undefined, key('refund-0002'));
    expect([answer.status, answer.headers['idempotency-mismatch']]).toEqual([201, 'true']);
    expect(await readActions(id)).toEqual(['refund.creation_requested']);
  });

  test.each([
    [[], 'IDEMPOTENCY_KEY_REQUIRED'],
    [['Idempotency-Key', 'short'], 'IDEMPOTENCY_KEY_REQUIRED'],
    [['Idempotency-Key', ' '.repeat(9)], 'IDEMPOTENCY_KEY_REQUIRED'],
    [['Idempotency-Key', 'x'.repeat(256)], 'VALIDATION_ERROR'],
    [[...key('refund-0003'), ...key('refund-0004')], 'VALIDATION_ERROR'],
  ])('without a usable key never reaches the owner: %j', async (headers, code) => {
    expect((await refund('{}', headers)).json).toMatchObject({ code });
    expect(gateway.owners.charges.requests).toEqual([]);
  });

  test.each([
    [400, 'INSUFFICIENT_BALANCE'],
    [409, 'CHARGE_NOT_REFUNDABLE'],
    [422, 'REFUND_EXCEEDS_CHARGE'],
    [400, 'VALIDATION_ERROR'],
  ])('is refused in the words of the owner: %i %s', async (status, code) => {
    const refusal = { code, message: 'x', details: ['amount'] };
    answerChange(aCharge({ status: 'paid' }), status, refusal);
    expect(await refund('{}', key(newId()))).toMatchObject({ status, json: refusal });
  });

  test('with a body that is no JSON is refused with what is wrong, once its id was looked up', async () => {
    const refusal = { code: 'VALIDATION_ERROR', message: 'x', details: ['body'] };
    answerChange(aCharge({ status: 'paid' }), 400, refusal);
    const answer = await refund('{}', [...key(newId()), 'content-encoding', 'gzip']);
    expect([answer.status, answer.json['details']]).toEqual([400, ['content-encoding']]);
    expect(lastSeen().json).toMatchObject({ body: null });
  });

  test('is a 500 while the owner is away, and stays in the audit log as asked for', async () => {
    gateway.owners.charges.answerWith((response, { method }) => {
      if (method === 'GET') answerJson(response, 200, { body: aCharge({ status: 'paid' }) });
      else response.destroy();
    });
    expect((await refund('{}', key('refund-0005'))).status).toBe(500);
    expect(await readActions(idOf('refund-0005'))).toEqual(['refund.creation_requested']);
  });
});

test.each(['cancel', 'refunds'])('%s of an unknown charge is the owner’s 404', async (change) => {
  const refusal = { code: 'CHARGE_NOT_FOUND', message: 'x', details: [] };
  gateway.owners.charges.answerWith((response) => answerJson(response, 404, { body: refusal }));
  for (const id of [newId(), 'not-a-uuid', '..%2Fx']) {
    const answer = await post(`/admin/charges/${id}/${change}`, '{"amount":', key(newId()));
    expect(answer).toMatchObject({ status: 404, json: refusal });
  }
  expect(gateway.owners.charges.requests.map(({ method }) => method)).toEqual([
    'GET',
    'GET',
    'GET',
  ]);
});
