import { OperatorDelivery, OperatorWebhook } from '@pixmesh/contracts/internal/operator-deliveries';
import { type EndpointId, newId } from '@pixmesh/kernel/ids';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findEndpoint } from '#endpoints/endpoints.sql.ts';
import { anApplication } from '#test/an-application.ts';
import { openOperatorsApi, OPERATOR_ID, type OperatorsApi } from '#test/open-operators-api.ts';
import { answerWith, startReceiver } from '#test/start-receiver.ts';
import { removeStoredEndpoint, storeEndpoint, type StoredEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { startSenderTo } from '#test/test-sender.ts';

const ACT = { operator_id: OPERATOR_ID };
const SECRET = 'whsec_endpoint_0001';

let database: TestDatabase;
let api: OperatorsApi;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  api = await openOperatorsApi(database.db);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function listOf(applicationId: string): Promise<OperatorWebhook[]> {
  const { status, body } = await api.call(`GET /internal/applications/${applicationId}/webhooks`);
  expect([status, body.object, body.has_more]).toEqual([200, 'list', false]);
  return (body.data as unknown[]).map((webhook) => OperatorWebhook.parse(webhook));
}

function change(id: string, body: object | null) {
  return api.call(`POST /internal/operator-webhooks/${id}/change`, { ...ACT, body });
}

describe('the endpoints of an application', () => {
  test('come newest first, with whose they are and how they do', async () => {
    await using receiver = await startReceiver(answerWith(500));
    const application = anApplication();
    const { owner } = application;
    const older = await storeEndpoint(database.db, { ...owner, createdAt: new Date('2026-01-01') });
    const newer = await storeEndpoint(database.db, {
      ...owner,
      createdAt: new Date('2026-01-02'),
      events: ['charge.pix.paid'],
      secret: SECRET,
    });
    const deleted = await storeEndpoint(database.db, owner);
    await removeStoredEndpoint(database.db, deleted);
    await take(database.db, application.anEvent());
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([older.id]);
    const [second, first] = await eventually(async () => {
      const shown = (await listOf(owner.applicationId)).toReversed();
      expect(shown[0]!.health.attempts_failed).toBe(1);
      return shown;
    });
    expect([first!.id, second!.id]).toEqual([newer.id, older.id]);
    const idle = {
      attempts_succeeded: 0,
      attempts_failed: 0,
      last_success_at: null,
      last_failure_at: null,
      failing_since: null,
      breaker_open: false,
      waiting: 0,
      oldest_due_at: null,
    };
    const { accountId: account_id, applicationId: application_id } = owner;
    expect(first).toMatchObject({ account_id, application_id, has_secret: true, health: idle });
    expect(second!.health).toMatchObject({ attempts_failed: 1, waiting: 1 });
    expect(second!.health.failing_since).toBe(second!.health.last_failure_at);
    expect(second!.health.oldest_due_at).not.toBeNull();
    const one = await api.call(`GET /internal/operator-webhooks/${newer.id}`);
    expect(one.body).toEqual(first);
  });

  test('are none where the application is not known here', async () => {
    for (const id of [newId(), 'x']) expect(await listOf(id)).toEqual([]);
  });
});

describe('a change', () => {
  test('follows the rules of the application’s own', async () => {
    const endpoint = await storeEndpoint(database.db);
    const { status, body } = await change(endpoint.id, { active: false, description: 'paused' });
    expect([status, body.active, body.description]).toEqual([200, false, 'paused']);
    expect(OperatorWebhook.parse(body).account_id).toBe(endpoint.accountId);
    expect(await findEndpoint(database.db, endpoint, endpoint.id)).toMatchObject({ active: false });
    expect((await change(endpoint.id, { secret: SECRET })).body.has_secret).toBe(true);
    expect((await change(endpoint.id, {})).body).toMatchObject({ active: false, has_secret: true });
  });

  test.each([
    [{ url: 'http://10.0.0.1/' }, 422, 'INVALID_WEBHOOK_URL', ['url']],
    [{ events: ['charge.*'] }, 422, 'INVALID_WEBHOOK_EVENT', ['charge.*']],
    [{ active: 'no' }, 400, 'VALIDATION_ERROR', ['active']],
    [null, 400, 'VALIDATION_ERROR', ['body']],
  ])('that breaks them is refused: %j', async (body, status, code, details) => {
    const endpoint = await storeEndpoint(database.db);
    expect(await change(endpoint.id, body)).toMatchObject({ status, body: { code, details } });
  });
});

describe('a test delivery', () => {
  test.each([true, false])('reaches an endpoint whose active is %s, signed', async (active) => {
    await using receiver = await startReceiver();
    const endpoint = await storeEndpoint(database.db, { secret: SECRET, active });
    const queued = await startTest(endpoint);
    expect(queued).toMatchObject({
      event: 'webhook.test',
      account_id: endpoint.accountId,
      resource_id: endpoint.id,
      endpoint_id: endpoint.id,
      url: endpoint.url,
      status: 'pending',
      attempts: [],
    });
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([endpoint.id]);
    const done = await untilOver(queued.id);
    expect(done).toMatchObject({ status: 'succeeded', attempts: [{ number: 1, manual: true }] });
    const [request, ...others] = receiver.requests;
    expect(others).toEqual([]);
    const { headers, body } = request!;
    expect(headers['x-webhook-event']).toBe('webhook.test');
    expect(headers['x-webhook-delivery']).toBe(queued.id);
    expect(verifyWebhookSignature(SECRET, body, String(headers['x-webhook-signature']))).toBe(true);
    const sent = JSON.parse(body.toString()) as Record<string, unknown>;
    expect(sent).toEqual({
      id: queued.id,
      object: 'event',
      event: 'webhook.test',
      resource: 'webhook',
      method: null,
      action: 'test',
      created_at: expect.any(String) as string,
      data: {
        id: endpoint.id,
        object: 'webhook',
        url: endpoint.url,
        description: '',
        events: endpoint.events,
        active,
        has_secret: true,
        created_at: endpoint.createdAt.toISOString(),
      },
    });
  });

  test('that fails has failed, and is not tried again', async () => {
    await using receiver = await startReceiver(answerWith(503));
    const endpoint = await storeEndpoint(database.db);
    const { id } = await startTest(endpoint);
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([endpoint.id]);
    const failed = await untilOver(id);
    expect(failed).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(failed.attempts).toMatchObject([{ status: 503, outcome: 'failed' }]);
    expect(await database.db.query(sql`select id from queue where delivery_id = ${id}`)).toEqual(
      [],
    );
    const filter = `endpoint_id=${endpoint.id}&event=webhook.test&status=failed`;
    const list = await api.call(`GET /internal/operator-deliveries?${filter}`);
    expect(list.body.data).toEqual([failed]);
    await api.call(`POST /internal/operator-deliveries/${id}/resend`, ACT);
    sender.wake([endpoint.id]);
    await eventually(async () => {
      const { body } = await api.call(`GET /internal/operator-deliveries/${id}`);
      expect(body).toMatchObject({ status: 'failed', attempts: [{ number: 1 }, { number: 2 }] });
    });
  });

  async function startTest({ id }: StoredEndpoint): Promise<OperatorDelivery> {
    const { status, body } = await api.call(`POST /internal/operator-webhooks/${id}/test`, ACT);
    expect(status).toBe(202);
    return OperatorDelivery.parse(body);
  }

  async function untilOver(id: string): Promise<OperatorDelivery> {
    return await eventually(async () => {
      const { body } = await api.call(`GET /internal/operator-deliveries/${id}`);
      expect((body as OperatorDelivery).status).not.toBe('pending');
      return OperatorDelivery.parse(body);
    });
  }
});

test('unknown and deleted endpoints are answered alike, before the body is read', async () => {
  const deleted = await storeEndpoint(database.db);
  await removeStoredEndpoint(database.db, deleted);
  for (const id of [newId<EndpointId>(), deleted.id, 'x']) {
    const path = `/internal/operator-webhooks/${id}`;
    const calls: [string, object?][] = [
      [`GET ${path}`],
      [`POST ${path}/change`, { body: 1 }],
      [`POST ${path}/test`, {}],
    ];
    for (const [route, body] of calls) {
      const answer = await api.call(route, body);
      expect([answer.status, answer.body.code]).toEqual([404, 'WEBHOOK_NOT_FOUND']);
    }
  }
});
