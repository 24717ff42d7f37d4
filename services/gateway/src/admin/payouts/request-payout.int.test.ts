import {
  OPERATOR_PAYOUT_PATHS,
  RequestPayoutBody,
} from '@pixmesh/contracts/internal/operator-payouts';
import { newId, uuidV5 } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import {
  BOOTSTRAP_TOKEN,
  startTestGateway,
  type TestGateway,
  forOperator,
} from '#test/start-test-gateway.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

let gateway: TestGateway;
let accountId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  const account = { onboarding_status: 'approved', payout_fee: 55, auto_payout_enabled: true };
  ({ accountId } = await gateway.createTenant({ account }));
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.owners.payouts.requests.length = 0;
  answerAs(201);
});

/** Answers like the owner: the payout under the id that the gateway named. */
function answerAs(status: number, headers: Record<string, string> = {}): void {
  gateway.owners.payouts.answerWith((response, { body }) => {
    const { creation_id: id } = JSON.parse(body.toString()) as RequestPayoutBody;
    answerJson(response, status, { body: { id, object: 'payout', status: 'pending' }, headers });
  });
}

function request(
  body: string | Buffer | undefined,
  headers: readonly string[] = [],
): Promise<Answer> {
  return sendRequest({
    port: gateway.ports.admin,
    method: 'POST',
    path: `/admin/accounts/${accountId}/payouts`,
    headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`, ...headers],
    body,
  });
}

function lastSeen() {
  const seen = gateway.owners.payouts.requests.at(-1);
  if (!seen) throw new Error('the owner saw no request');
  return { ...seen, text: seen.body.toString(), json: JSON.parse(seen.body.toString()) as object };
}

async function readActions(targetId: unknown): Promise<unknown[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${String(targetId)}`);
  return (audit.json['data'] as { action: string; actor: string }[]).map((entry) => entry.action);
}

describe('a payout that an operator requests', () => {
  test('is asked of payouts with operator, settings and the body as it came', async () => {
    const answer = await request('{"amount":500,"pix_key":"x","huge":1e400}');
    expect(answer).toMatchObject({ status: 201, json: { object: 'payout', status: 'pending' } });
    const seen = lastSeen();
    expect(seen).toMatchObject({
      method: 'POST',
      url: OPERATOR_PAYOUT_PATHS.request.replace(':id', accountId),
    });
    expect(RequestPayoutBody.parse(seen.json)).toEqual({
      creation_id: answer.json['id'],
      settings: {
        status: 'active',
        onboarding_status: 'approved',
        auto_payout_enabled: true,
        payouts_enabled: true,
        payout_fee: 55,
        charge_expires_in: 86_400,
        release_delay_seconds: 0,
        late_payment_policy: 'accept',
        endpoints_max: null,
      },
      body: { amount: 500, pix_key: 'x', huge: Infinity },
    });
    expect(seen.text).toContain('"body":{"amount":500,"pix_key":"x","huge":1e400}}');
    expect(seen.claims).toEqual(forOperator());
  });

  test('names the operator who speaks', async () => {
    const operator = await gateway.admin('POST', '/admin/operators', { body: { name: 'Ana' } });
    const id = String(operator.json['id']);
    const answer = await request('{}', ['X-Operator', id]);
    expect(lastSeen().claims).toEqual(forOperator(id));
    const target = String(answer.json['id']);
    const audit = await gateway.admin('GET', `/admin/audit?target_id=${target}`);
    expect(audit.json['data']).toMatchObject([
      { action: 'payout.created', actor: id, target_kind: 'payout', digest_before: null },
      { action: 'payout.creation_requested', actor: id, digest_after: null },
    ]);
  });

  test('has the id of its Idempotency-Key and account, or one of its own', async () => {
    const key = ['Idempotency-Key', 'order-0001'];
    const derived = uuidV5(accountId, 'payout:order-0001');
    expect((await request('{}', key)).json['id']).toBe(derived);
    expect((await request('{}', key)).json['id']).toBe(derived);
    const [one, other] = [await request('{}'), await request('{}')];
    expect(one.json['id']).toMatch(UUID_V7);
    expect(one.json['id']).not.toBe(other.json['id']);
  });

  test('may be a repeat, which is marked and no second creation in the audit log', async () => {
    const key = ['Idempotency-Key', 'order-0002'];
    answerAs(201, { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' });
    const answer = await request('{}', key);
    expect(answer.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'idempotency-mismatch': 'true',
    });
    expect(await readActions(answer.json['id'])).toEqual(['payout.creation_requested']);
  });

  test.each([
    [400, 'INSUFFICIENT_BALANCE'],
    [400, 'VALIDATION_ERROR'],
    [422, 'PAYOUTS_DISABLED'],
  ])('is refused in the words of the owner: %i %s', async (status, code) => {
    const body = { code, message: 'x', details: ['y'] };
    gateway.owners.payouts.answerWith((response) => answerJson(response, status, { body }));
    expect(await request('{}')).toMatchObject({ status, json: body });
  });

  test('is a 500 while the owner is away, and stays in the audit log as asked for', async () => {
    gateway.owners.payouts.answerWith((response) => response.destroy());
    const answer = await request('{}', ['Idempotency-Key', 'order-0003']);
    expect(answer).toMatchObject({ status: 500, json: { code: 'INTERNAL_ERROR' } });
    expect(await readActions(uuidV5(accountId, 'payout:order-0003'))).toEqual([
      'payout.creation_requested',
    ]);
  });

  test.each([newId(), 'not-a-uuid'])('of the unknown account %s is a 404', async (id) => {
    const answer = await gateway.admin('POST', `/admin/accounts/${id}/payouts`, { body: {} });
    expect(answer).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
    expect(gateway.owners.payouts.requests).toEqual([]);
  });

  test('with a key that is too short never reaches the owner', async () => {
    const answer = await request('{}', ['Idempotency-Key', 'short']);
    expect(answer.json).toMatchObject({ code: 'IDEMPOTENCY_KEY_REQUIRED' });
    expect(gateway.owners.payouts.requests).toEqual([]);
  });
});

describe('a body that is no JSON object', () => {
  const UNREADABLE = [
    { name: 'nothing', body: undefined, headers: [], detail: 'body' },
    { name: 'no JSON', body: '{"amount":', headers: [], detail: 'body' },
    { name: 'an array', body: '[1]', headers: [], detail: 'body' },
    { name: 'a way out', body: '{}},"operator_id":"x"', headers: [], detail: 'body' },
    {
      name: 'too deep',
      body: '{"a":'.repeat(17) + '1' + '}'.repeat(17),
      headers: [],
      detail: 'body',
    },
    { name: 'no UTF-8', body: Buffer.from([0x7b, 0xff, 0x7d]), headers: [], detail: 'body' },
    { name: 'text', body: '{}', headers: ['content-type', 'text/plain'], detail: 'content-type' },
    {
      name: 'two types',
      body: '{}',
      headers: ['content-type', 'application/json', 'content-type', 'application/json'],
      detail: 'content-type',
    },
    {
      name: 'compressed',
      body: '{}',
      headers: ['content-encoding', 'gzip'],
      detail: 'content-encoding',
    },
  ];

  test.each(UNREADABLE)('is refused with what is wrong: $name', async (row) => {
    const refusal = { code: 'VALIDATION_ERROR', message: 'x', details: ['body'] };
    gateway.owners.payouts.answerWith((response) => answerJson(response, 400, { body: refusal }));
    const answer = await request(row.body, row.headers);
    expect(answer).toMatchObject({
      status: 400,
      json: { code: 'VALIDATION_ERROR', details: [row.detail] },
    });
    expect(lastSeen().json).toMatchObject({ body: null });
  });

  test.each(UNREADABLE)('still finds the payout of its key: $name', async ({ body, headers }) => {
    answerAs(201, { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' });
    const answer = await request(body, ['Idempotency-Key', 'order-0004', ...headers]);
    expect(answer).toMatchObject({
      status: 201,
      json: { id: uuidV5(accountId, 'payout:order-0004') },
    });
  });

  test('is none because of a byte order mark', async () => {
    await request(Buffer.from('\ufeff{"amount":500}'));
    expect(lastSeen().json).toMatchObject({ body: { amount: 500 } });
  });
});
