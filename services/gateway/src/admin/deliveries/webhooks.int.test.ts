import { ChangeWebhookBody } from '@pixmesh/contracts/internal/operator-deliveries';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import {
  BOOTSTRAP_TOKEN,
  startTestGateway,
  type TestGateway,
  forOperator,
} from '#test/start-test-gateway.ts';

let gateway: TestGateway;
let applicationId: string;
let webhookId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ applicationId } = await gateway.createTenant());
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  webhookId = newId();
  gateway.owners.dispatcher.requests.length = 0;
});

function aWebhook(changes: object = {}): object {
  return { id: webhookId, object: 'webhook', active: true, has_secret: false, ...changes };
}

/** The owner shows the endpoint, and answers what is asked of it as told. */
function answerAs(status: number, body: object): void {
  gateway.owners.dispatcher.answerWith((response, { method }) => {
    if (method === 'GET') answerJson(response, 200, { body: aWebhook() });
    else answerJson(response, status, { body });
  });
}

async function readAudit(): Promise<Record<string, unknown>[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${webhookId}`);
  return audit.json['data'] as Record<string, unknown>[];
}

describe('the endpoints of an application', () => {
  test('are those that its owner knows', async () => {
    const list = { object: 'list', data: [aWebhook()], has_more: false };
    gateway.owners.dispatcher.answerWith((response) => answerJson(response, 200, { body: list }));
    const path = `/admin/applications/${applicationId.toUpperCase()}/webhooks`;
    expect(await gateway.admin('GET', path)).toMatchObject({ status: 200, json: list });
    const [request, ...others] = gateway.owners.dispatcher.requests;
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      method: 'GET',
      url: `/internal/applications/${applicationId}/webhooks`,
    });
    expect(request?.claims).toEqual(forOperator());
  });

  test('of an unknown application are a 404 of the gateway’s own', async () => {
    for (const id of [newId(), 'x']) {
      const answer = await gateway.admin('GET', `/admin/applications/${id}/webhooks`);
      expect(answer).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
    }
    expect(gateway.owners.dispatcher.requests).toEqual([]);
  });
});

describe('changing an endpoint', () => {
  test('passes the body on with who asks, and is recorded without its secret', async () => {
    const operator = await gateway.admin('POST', '/admin/operators', { body: { name: 'Ana' } });
    const operatorId = String(operator.json['id']);
    const changed = aWebhook({ active: false, has_secret: true });
    answerAs(200, changed);
    const body = { active: false, secret: 'whsec_secret_0001', unknown: 1 };
    const headers = ['X-Operator', operatorId];
    const path = `/admin/webhooks/${webhookId.toUpperCase()}`;
    const answer = await gateway.admin('PATCH', path, { body, headers });
    expect(answer).toMatchObject({ status: 200, json: changed });
    const asked = gateway.owners.dispatcher.requests.at(-1);
    expect(asked).toMatchObject({
      method: 'POST',
      url: `/internal/operator-webhooks/${webhookId}/change`,
    });
    expect(ChangeWebhookBody.parse(JSON.parse(String(asked?.body)))).toEqual({ body });
    expect(asked?.claims).toEqual(forOperator(operatorId));
    const audit = await readAudit();
    expect(audit).toMatchObject([
      { action: 'webhook.changed', actor: operatorId, target_kind: 'webhook' },
      { action: 'webhook.change_requested', actor: operatorId },
    ]);
    expect(audit[0]!['digest_after']).not.toBe(audit[0]!['digest_before']);
    expect(JSON.stringify(audit)).not.toContain('whsec');
  });

  test('passes numbers on as they were written: none becomes null, which would remove a secret', async () => {
    answerAs(200, aWebhook());
    await sendRequest({
      port: gateway.ports.admin,
      method: 'PATCH',
      path: `/admin/webhooks/${webhookId}`,
      headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`],
      body: '{"secret":1e400}',
    });
    expect(String(gateway.owners.dispatcher.requests.at(-1)?.body)).toContain(
      '"body":{"secret":1e400}',
    );
  });

  test.each([
    [400, 'VALIDATION_ERROR'],
    [422, 'INVALID_WEBHOOK_URL'],
    [422, 'INVALID_WEBHOOK_EVENT'],
  ])('is refused in the words of its owner: %i %s', async (status, code) => {
    const refusal = { code, message: 'x', details: ['url'] };
    answerAs(status, refusal);
    const answer = await gateway.admin('PATCH', `/admin/webhooks/${webhookId}`, { body: {} });
    expect(answer).toMatchObject({ status, json: refusal });
    expect((await readAudit()).map(({ action }) => action)).toEqual(['webhook.change_requested']);
  });

  test('with a body that cannot be read is refused after the look-up, and not recorded', async () => {
    answerAs(200, aWebhook());
    const answer = await sendRequest({
      port: gateway.ports.admin,
      method: 'PATCH',
      path: `/admin/webhooks/${webhookId}`,
      headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`],
      body: '{"active":',
    });
    expect(answer).toMatchObject({ status: 400, json: { details: ['body'] } });
    expect(gateway.owners.dispatcher.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(await readAudit()).toEqual([]);
  });
});

describe('testing an endpoint', () => {
  test('is accepted with the delivery that was queued, each time', async () => {
    const delivery = { id: newId(), object: 'delivery', event: 'webhook.test' };
    answerAs(202, delivery);
    for (let times = 1; times <= 2; times += 1) {
      const answer = await gateway.admin('POST', `/admin/webhooks/${webhookId}/test`);
      expect(answer).toMatchObject({ status: 202, json: delivery });
      const asked = gateway.owners.dispatcher.requests.at(-1);
      expect(asked?.url).toBe(`/internal/operator-webhooks/${webhookId}/test`);
      expect(asked?.claims).toEqual(forOperator());
      expect((await readAudit()).slice(0, 2).map(({ action }) => action)).toEqual([
        'webhook.test_queued',
        'webhook.test_requested',
      ]);
      expect(await readAudit()).toHaveLength(2 * times);
    }
  });
});

describe.each([
  ['PATCH', ''],
  ['POST', '/test'],
])('%s of an endpoint%s', (method, action) => {
  test('that its owner does not know is its 404, whatever the body', async () => {
    const refusal = { code: 'WEBHOOK_NOT_FOUND', message: 'x', details: [] };
    gateway.owners.dispatcher.answerWith((response) =>
      answerJson(response, 404, { body: refusal }),
    );
    const answer = await gateway.admin(method, `/admin/webhooks/${webhookId}${action}`);
    expect(answer).toMatchObject({ status: 404, json: refusal });
    expect(gateway.owners.dispatcher.requests).toHaveLength(1);
    expect(await readAudit()).toEqual([]);
  });

  test('is a 500 while the owner is away, and recorded once it was asked for', async () => {
    const path = `/admin/webhooks/${webhookId}${action}`;
    gateway.owners.dispatcher.answerWith((response) => response.destroy());
    expect((await gateway.admin(method, path, { body: {} })).status).toBe(500);
    expect(await readAudit()).toEqual([]);
    gateway.owners.dispatcher.answerWith((response, request) => {
      if (request.method === 'GET') answerJson(response, 200, { body: aWebhook() });
      else response.destroy();
    });
    expect((await gateway.admin(method, path, { body: {} })).status).toBe(500);
    expect(await readAudit()).toHaveLength(1);
  });
});
