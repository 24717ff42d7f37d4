import { RequestRecoveryBody } from '@pixmesh/contracts/internal/operator-deliveries';
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

let gateway: TestGateway;
let accountId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ accountId } = await gateway.createTenant());
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.owners.dispatcher.requests.length = 0;
});

async function readActions(id: unknown): Promise<unknown[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${String(id)}`);
  return (audit.json['data'] as { action: string }[]).map(({ action }) => action);
}

/** The owner shows what is acted on, and answers the act as told. */
function showAndAnswer(shown: object, status: number, body: object, headers = {}): void {
  gateway.owners.dispatcher.answerWith((response, { method }) => {
    if (method === 'GET') answerJson(response, 200, { body: shown });
    else answerJson(response, status, { body, headers });
  });
}

describe('re-sending a delivery', () => {
  let id: string;
  const resend = () => gateway.admin('POST', `/admin/deliveries/${id.toUpperCase()}/resend`);

  beforeEach(() => {
    id = newId();
  });

  test('asks its owner each time, and each time is recorded', async () => {
    const delivery = { id, object: 'delivery', status: 'failed', attempts: [] };
    showAndAnswer(delivery, 202, delivery);
    for (let times = 1; times <= 3; times += 1) {
      expect(await resend()).toMatchObject({ status: 202, json: delivery });
      const asked = gateway.owners.dispatcher.requests.at(-1);
      expect(asked).toMatchObject({
        method: 'POST',
        url: `/internal/operator-deliveries/${id}/resend`,
      });
      expect(asked?.claims).toEqual(forOperator());
      const actions = await readActions(id);
      expect(actions).toHaveLength(2 * times);
      expect(actions.slice(0, 2)).toEqual(['delivery.resend_queued', 'delivery.resend_requested']);
    }
  });

  test('is refused in the words of its owner', async () => {
    const refusal = { code: 'CONFLICT', message: 'x', details: [] };
    showAndAnswer({ id }, 409, refusal);
    expect(await resend()).toMatchObject({ status: 409, json: refusal });
    expect(await readActions(id)).toEqual(['delivery.resend_requested']);
  });

  test('of an unknown one is the owner’s 404, and nothing is recorded', async () => {
    const refusal = { code: 'NOT_FOUND', message: 'x', details: [] };
    gateway.owners.dispatcher.answerWith((response) =>
      answerJson(response, 404, { body: refusal }),
    );
    expect(await resend()).toMatchObject({ status: 404, json: refusal });
    expect(await readActions(id)).toEqual([]);
  });
});

describe('creating a recovery', () => {
  const SPAN = { created_from: '2026-11-20T00:00:00Z', created_until: '2026-11-21T00:00:00Z' };

  beforeEach(() => answerAs(201));

  /** Answers like the owner: the recovery under the id that the gateway named. */
  function answerAs(status: number, headers: Record<string, string> = {}): void {
    gateway.owners.dispatcher.answerWith((response, { body }) => {
      const { recovery_id: id } = JSON.parse(body.toString()) as RequestRecoveryBody;
      answerJson(response, status, {
        body: { id, object: 'recovery', status: 'running' },
        headers,
      });
    });
  }

  function create(body: string, headers: readonly string[] = []): Promise<Answer> {
    return sendRequest({
      port: gateway.ports.admin,
      method: 'POST',
      path: '/admin/recoveries',
      headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`, ...headers],
      body,
    });
  }

  test('passes the body on as it came, with operator and id', async () => {
    const text = JSON.stringify({ account_id: accountId, ...SPAN, rate_per_second: 5 });
    const answer = await create(text);
    expect(answer).toMatchObject({ status: 201, json: { status: 'running' } });
    const [asked, ...others] = gateway.owners.dispatcher.requests;
    expect(others).toEqual([]);
    expect(asked).toMatchObject({ method: 'POST', url: '/internal/recoveries' });
    expect(asked?.body.toString()).toContain(`"body":${text}}`);
    const { recovery_id } = RequestRecoveryBody.parse(JSON.parse(String(asked?.body)));
    expect(recovery_id).toBe(answer.json['id']);
    expect(asked?.claims).toEqual(forOperator());
    expect(await readActions(recovery_id)).toEqual([
      'recovery.created',
      'recovery.creation_requested',
    ]);
  });

  test('has the id of its key and account, and a repeat is marked and not recorded as made', async () => {
    const key = ['Idempotency-Key', 'outage-0001'];
    const derived = uuidV5(accountId, 'recovery:outage-0001');
    const text = JSON.stringify({ account_id: accountId.toUpperCase(), ...SPAN });
    expect((await create(text, key)).json['id']).toBe(derived);
    answerAs(201, { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' });
    const other = JSON.stringify({ account_id: accountId, created_from: 'never' });
    const repeated = await create(other, key);
    expect(repeated).toMatchObject({ status: 201, json: { id: derived } });
    expect(repeated.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'idempotency-mismatch': 'true',
    });
    expect(await readActions(derived)).toEqual([
      'recovery.creation_requested',
      'recovery.created',
      'recovery.creation_requested',
    ]);
  });

  test.each([
    ['{', ['body']],
    ['[]', ['body']],
    ['{}', ['account_id', 'created_from', 'created_until']],
    ['{"account_id":"x"}', ['account_id', 'created_from', 'created_until']],
    [JSON.stringify({ account_id: newId(), ...SPAN }), ['account_id']],
  ])('without an account never reaches the owner: %s', async (text, details) => {
    const answer = await create(text);
    expect(answer).toMatchObject({ status: 400, json: { code: 'VALIDATION_ERROR', details } });
    expect(gateway.owners.dispatcher.requests).toEqual([]);
  });

  test('is refused in the words of the owner', async () => {
    const refusal = { code: 'VALIDATION_ERROR', message: 'x', details: ['created_until'] };
    gateway.owners.dispatcher.answerWith((response) =>
      answerJson(response, 400, { body: refusal }),
    );
    const text = JSON.stringify({ account_id: accountId, ...SPAN });
    expect(await create(text)).toMatchObject({ status: 400, json: refusal });
  });

  test('with a key that is too short never reaches the owner', async () => {
    const text = JSON.stringify({ account_id: accountId, ...SPAN });
    const answer = await create(text, ['Idempotency-Key', 'short']);
    expect(answer.json).toMatchObject({ code: 'IDEMPOTENCY_KEY_REQUIRED' });
    expect(gateway.owners.dispatcher.requests).toEqual([]);
  });
});

describe('canceling a recovery', () => {
  let id: string;
  const cancel = () => gateway.admin('POST', `/admin/recoveries/${id}/cancel`);

  beforeEach(() => {
    id = newId();
  });

  test.each(['running', 'sending'])('that is %s asks its owner and is recorded', async (status) => {
    const canceled = { id, object: 'recovery', status: 'canceled' };
    showAndAnswer({ id, status }, 200, canceled);
    expect(await cancel()).toMatchObject({ status: 200, json: canceled });
    const asked = gateway.owners.dispatcher.requests.at(-1);
    expect(asked?.url).toBe(`/internal/recoveries/${id}/cancel`);
    expect(asked?.claims).toEqual(forOperator());
    expect(await readActions(id)).toEqual(['recovery.canceled', 'recovery.cancellation_requested']);
  });

  test('that was canceled is answered by its owner, and nothing is recorded', async () => {
    const canceled = { id, status: 'canceled' };
    showAndAnswer(canceled, 200, canceled, { 'idempotent-replayed': 'true' });
    expect(await cancel()).toMatchObject({ status: 200, json: canceled });
    expect(await readActions(id)).toEqual([]);
  });

  test('that another operator was faster to cancel is not this one’s cancellation', async () => {
    const headers = { 'idempotent-replayed': 'true' };
    showAndAnswer({ id, status: 'running' }, 200, { id, status: 'canceled' }, headers);
    expect((await cancel()).status).toBe(200);
    expect(await readActions(id)).toEqual(['recovery.cancellation_requested']);
  });

  test('that is completed is a conflict in the words of its owner', async () => {
    const refusal = { code: 'CONFLICT', message: 'x', details: [] };
    showAndAnswer({ id, status: 'completed' }, 409, refusal);
    expect(await cancel()).toMatchObject({ status: 409, json: refusal });
    expect(await readActions(id)).toEqual([]);
  });

  test('that is unknown is the owner’s 404', async () => {
    const refusal = { code: 'NOT_FOUND', message: 'x', details: [] };
    gateway.owners.dispatcher.answerWith((response) =>
      answerJson(response, 404, { body: refusal }),
    );
    expect(await cancel()).toMatchObject({ status: 404, json: refusal });
  });
});
