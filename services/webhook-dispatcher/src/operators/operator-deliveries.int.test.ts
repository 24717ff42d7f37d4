import { OperatorDelivery } from '@pixmesh/contracts/internal/operator-deliveries';
import { newId } from '@pixmesh/kernel/ids';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { anApplication } from '#test/an-application.ts';
import { openOperatorsApi, OPERATOR_ID, type OperatorsApi } from '#test/open-operators-api.ts';
import { readDeliveries, untilDelivery } from '#test/listed-deliveries.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { answerWith, type Receiver, startReceiver } from '#test/start-receiver.ts';
import { patchEndpoint, removeStoredEndpoint, storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { startSenderTo } from '#test/test-sender.ts';

const ACT = { operator_id: OPERATOR_ID };
const SHOP = 'http://shop.receiver.example.com/hook';
const OFFICE = 'http://office.receiver.example.com/hook';

let database: TestDatabase;
let api: OperatorsApi;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  api = await openOperatorsApi(database.db);
});
afterEach(() => emptyQueue(database.db));
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function resend(id: string, times = 1): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    expect((await api.call(`POST /internal/operator-deliveries/${id}/resend`, ACT)).status).toBe(
      202,
    );
  }
}

async function read(id: string): Promise<OperatorDelivery> {
  const { status, body } = await api.call(`GET /internal/operator-deliveries/${id}`);
  expect(status).toBe(200);
  return OperatorDelivery.parse(body);
}

/** The delivery once that many attempts are shown. */
async function untilAttempts(id: string, count: number): Promise<OperatorDelivery> {
  return await eventually(async () => {
    const delivery = await read(id);
    expect(delivery.attempts).toHaveLength(count);
    return delivery;
  });
}

/** An endpoint's delivery that waits, and the application around it. */
async function aDelivery(changes: Parameters<typeof storeEndpoint>[1] = {}) {
  const application = anApplication();
  const endpoint = await storeEndpoint(database.db, { ...application.owner, ...changes });
  const event = application.anEvent();
  await take(database.db, event);
  const [delivery] = await readDeliveries(database.db, event.data.id);
  return { application, endpoint, event, id: delivery!.id };
}

function isSignedWith(secret: string, { headers, body }: Receiver['requests'][number]): boolean {
  return verifyWebhookSignature(secret, body, String(headers['x-webhook-signature']));
}

describe('the delivery log', () => {
  test('shows a delivery with whose it is, and its attempt as soon as it is made', async () => {
    const excerpt = 'x'.repeat(20_000);
    await using receiver = await startReceiver((_request, response) => response.end(excerpt));
    const { endpoint, event, id } = await aDelivery();
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([endpoint.id]);
    const delivery = await untilAttempts(id, 1);
    expect(delivery).toMatchObject({
      id,
      object: 'delivery',
      account_id: endpoint.accountId,
      event: 'charge.pix.created',
      event_id: event.event_id,
      resource_id: event.data.id,
      endpoint_id: endpoint.id,
      url: endpoint.url,
      status: 'succeeded',
      next_attempt_at: null,
      attempts: [{ number: 1, outcome: 'succeeded', status: 200, error: null, manual: false }],
    });
    expect(delivery.attempts[0]!.response_excerpt).toBe('x'.repeat(16 * 1024));
    const list = await api.call(`GET /internal/operator-deliveries?endpoint_id=${endpoint.id}`);
    expect(list.body).toEqual({ object: 'list', data: [delivery], has_more: false });
  });

  test('is narrowed by each filter, and paged', async () => {
    const application = anApplication();
    const { accountId } = application.owner;
    const endpoint = await storeEndpoint(database.db, application.owner);
    const events = Array.from({ length: 3 }, () => application.anEvent());
    for (const event of events) await take(database.db, event);
    const all = await list(`account_id=${accountId}`);
    expect(all).toHaveLength(3);
    expect(all.toSorted().toReversed()).toEqual(all);
    expect(await list(`account_id=${accountId}&limit=2`)).toEqual(all.slice(0, 2));
    expect(await list(`account_id=${accountId}&starting_after=${all[0]}`)).toEqual(all.slice(1));
    const { body: newest } = await api.call(`GET /internal/operator-deliveries/${all[0]}`);
    const at = String(newest['created_at']);
    expect(await list(`account_id=${accountId}&created_before=${at}`)).not.toContain(all[0]);
    expect(await list(`account_id=${accountId}&created_after=${at}`)).toEqual([]);
    const { id: resourceId } = events[1]!.data;
    const [ofResource] = await readDeliveries(database.db, resourceId);
    for (const [filter, shown] of [
      [`resource_id=${resourceId}`, [ofResource!.id]],
      [`endpoint_id=${endpoint.id.toUpperCase()}&status=pending`, all],
      [`endpoint_id=${endpoint.id}&status=failed`, []],
      [`account_id=${accountId}&event=charge.pix.created`, all],
      [`account_id=${accountId}&event=charge.pix.paid`, []],
      [`account_id=${accountId}&event=webhook.test`, []],
      [`account_id=${accountId}&created_after=${events[0]!.occurred_at.slice(0, 10)}`, all],
      [`account_id=${accountId}&created_before=2026-01-01`, []],
    ] as const) {
      expect({ filter, ids: await list(filter) }).toEqual({ filter, ids: shown });
    }
  });

  test.each([
    ['limit', 'limit=0'],
    ['account_id', 'account_id=x'],
    ['event', 'event=charge.*'],
    ['status', 'status=open'],
    ['created_after', 'created_after=yesterday'],
    ['starting_after', `starting_after=${newId()}`],
  ])('names the fault of %s', async (detail, query) => {
    const path = `GET /internal/operator-deliveries?${query}`;
    const { status, body } = await api.call(path);
    expect([status, body.code, body.details]).toEqual([400, 'VALIDATION_ERROR', [detail]]);
  });

  async function list(query: string): Promise<string[]> {
    const { body } = await api.call(`GET /internal/operator-deliveries?${query}`);
    return (body.data as OperatorDelivery[]).map(({ id }) => id);
  }
});

describe('a re-send', () => {
  test('is one more request each time, same id and same bytes, beside the schedule and after it', async () => {
    await using receiver = await startReceiver();
    const { endpoint, id } = await aDelivery();
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([endpoint.id]);
    await untilAttempts(id, 1);
    await resend(id, 2);
    sender.wake([endpoint.id]);
    const { status, attempts } = await untilAttempts(id, 3);
    expect(status).toBe('succeeded');
    expect(attempts.map(({ manual }) => manual)).toEqual([false, true, true]);
    const [first, ...others] = receiver.requests;
    for (const other of others) {
      expect(other.body).toEqual(first!.body);
      expect(other.headers['x-webhook-delivery']).toBe(id);
    }
    expect(others).toHaveLength(2);
  });

  test('that fails moves nothing of the schedule, one that succeeds ends it', async () => {
    let status = 500;
    await using receiver = await startReceiver((request, response) =>
      answerWith(status)(request, response),
    );
    const { endpoint, id } = await aDelivery();
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([endpoint.id]);
    const failed = await untilAttempts(id, 1);
    expect(failed).toMatchObject({
      status: 'pending',
      next_attempt_at: expect.any(String) as string,
    });
    await resend(id);
    sender.wake([endpoint.id]);
    const again = await untilAttempts(id, 2);
    expect(again).toMatchObject({ status: 'pending', next_attempt_at: failed.next_attempt_at });
    status = 204;
    await resend(id);
    sender.wake([endpoint.id]);
    const done = await untilAttempts(id, 3);
    expect(done).toMatchObject({ status: 'succeeded', next_attempt_at: null });
  });

  test.each(['failed', 'skipped', 'canceled', 'succeeded'])(
    'of what is %s is sent, and what arrives has succeeded',
    async (status) => {
      await using receiver = await startReceiver();
      const { endpoint, id } = await aDelivery();
      await database.db.query(sql`delete from queue where id = ${id}`);
      await database.db.query(sql`update deliveries set status = ${status} where id = ${id}`);
      await resend(id);
      await using sender = startSenderTo(database.db, { shop: receiver });
      sender.wake([endpoint.id]);
      expect(await untilAttempts(id, 1)).toMatchObject({ status: 'succeeded' });
    },
  );

  test('goes to a paused endpoint, at the URL and under the secret that it has now', async () => {
    await using receiver = await startReceiver();
    const { endpoint, id } = await aDelivery({ secret: 'whsec_before_01' });
    await patchEndpoint(database.db, endpoint, {
      url: OFFICE,
      secret: 'whsec_after_001',
      active: false,
    });
    await resend(id);
    await using sender = startSenderTo(database.db, { shop: receiver, office: receiver });
    sender.wake([endpoint.id]);
    expect(await untilAttempts(id, 1)).toMatchObject({ url: OFFICE, status: 'succeeded' });
    const [request, ...others] = receiver.requests;
    expect(others).toEqual([]);
    expect(request!.headers.host).toContain('office');
    expect(isSignedWith('whsec_after_001', request!)).toBe(true);
  });

  test('for a deleted endpoint is a conflict, and nothing is queued', async () => {
    const { endpoint, id } = await aDelivery();
    await removeStoredEndpoint(database.db, endpoint);
    const { status, body } = await api.call(`POST /internal/operator-deliveries/${id}/resend`, ACT);
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    expect(await database.db.query(sql`select id from queue where delivery_id = ${id}`)).toEqual(
      [],
    );
    expect(await read(id)).toMatchObject({ status: 'canceled', attempts: [] });
  });

  test('of what stands for the URL of the resource too goes there when the endpoint is deleted', async () => {
    await using receiver = await startReceiver();
    const application = anApplication();
    const endpoint = await storeEndpoint(database.db, { ...application.owner, url: SHOP });
    const event = application.anEvent({ url: SHOP });
    await take(database.db, event);
    await removeStoredEndpoint(database.db, endpoint);
    const [delivery] = await readDeliveries(database.db, event.data.id);
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([]);
    await untilAttempts(delivery!.id, 1);
    await resend(delivery!.id);
    sender.wake([]);
    await untilAttempts(delivery!.id, 2);
  });

  test('of the URL of a resource goes there', async () => {
    await using receiver = await startReceiver();
    const event = aChargeEvent({ url: SHOP });
    await take(database.db, event);
    await using sender = startSenderTo(database.db, { shop: receiver });
    sender.wake([]);
    const { id } = await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
    await resend(id);
    sender.wake([]);
    expect(await untilAttempts(id, 2)).toMatchObject({ endpoint_id: null, url: SHOP });
  });

  test('races a deletion: either it is refused, or what it queued is dropped', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { endpoint, id } = await aDelivery();
      const [answer] = await Promise.all([
        api.call(`POST /internal/operator-deliveries/${id}/resend`, ACT),
        removeStoredEndpoint(database.db, endpoint),
      ]);
      expect([202, 409]).toContain(answer.status);
      const waiting = await database.db.query(sql`select id from queue where delivery_id = ${id}`);
      expect(waiting).toEqual([]);
    }
  });

  test('of a delivery that is not there is a 404', async () => {
    for (const unknown of [newId(), 'x']) {
      const path = `/internal/operator-deliveries/${unknown}`;
      expect((await api.call(`POST ${path}/resend`, {})).body.code).toBe('NOT_FOUND');
      expect((await api.call(`GET ${path}`)).body.code).toBe('NOT_FOUND');
    }
  });
});

test.each([
  ['GET', '/internal/operator-deliveries'],
  ['GET', `/internal/operator-deliveries/${newId()}`],
  ['POST', `/internal/operator-deliveries/${newId()}/resend`],
  ['GET', `/internal/applications/${newId()}/webhooks`],
  ['GET', `/internal/operator-webhooks/${newId()}`],
  ['POST', `/internal/operator-webhooks/${newId()}/change`],
  ['POST', `/internal/operator-webhooks/${newId()}/test`],
  ['POST', '/internal/recoveries'],
  ['GET', `/internal/recoveries/${newId()}`],
  ['POST', `/internal/recoveries/${newId()}/cancel`],
  ['POST', '/internal/timelines/deliveries'],
])('%s %s is no tenant’s to call', async (method, path) => {
  const answer = await api.call(`${method} ${path}`, method === 'POST' ? {} : undefined, aCaller());
  expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHORIZED']);
});
