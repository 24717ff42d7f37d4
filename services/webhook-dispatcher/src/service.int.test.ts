import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { CHARGE_EVENTS, type ChargeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { parkMessage } from '@pixmesh/postgres/dead-letters';
import { createPool } from '@pixmesh/postgres/pool';
import { newId } from '@pixmesh/kernel/ids';
import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { reconcile } from '@pixmesh/testkit/reconcile';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { sql } from '@pixmesh/postgres/sql';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type ResourceTopics,
  openResourceTopics,
  sealingKeys,
  testConfig,
  testEnvironment,
} from '#test/test-dispatcher.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { queueDelivery } from '#test/queued-deliveries.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';

import { startWebhookDispatcher, type WebhookDispatcher } from './service.ts';

let database: TestDatabase;
let receiver: Receiver;
let topics: ResourceTopics;
let dispatcher: WebhookDispatcher;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const { topicPrefix } = await createTestTopics();
  [database, receiver, topics] = await Promise.all([
    createTestDatabase('webhook_dispatcher'),
    startReceiver(),
    openResourceTopics(topicPrefix),
  ]);
  env = testEnvironment({
    databaseUrl: database.url,
    topicPrefix,
    receiverPort: receiver.port,
  });
  dispatcher = await startWebhookDispatcher(testConfig(env));
});

afterAll(async () => {
  await dispatcher[Symbol.asyncDispose]();
  await topics[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe('an event on the topic', () => {
  const event = aChargeEvent({
    type: 'charge.pix.paid',
    charge: { status: 'paid' },
    secret: { clear: 'whsec_test_0001', publicKey: sealingKeys.publicKey },
  });

  test('becomes one signed delivery', async () => {
    await topics.publish(event);
    const request = await eventually(() => {
      expect(receiver.requests).toHaveLength(1);
      return receiver.requests[0]!;
    });
    expect(request).toMatchObject({
      path: '/hook',
      headers: {
        host: 'shop.receiver.example.com',
        'content-type': 'application/json',
        'user-agent': 'Pixmesh-Webhooks/1',
        'x-webhook-event': 'charge.pix.paid',
        'x-webhook-resource': 'charge',
        'x-webhook-method': 'pix',
      },
    });
    const body = JSON.parse(request.body.toString()) as Record<string, unknown>;
    expect(body).toMatchObject({ object: 'event', event: 'charge.pix.paid', data: event.data });
    expect(request.headers['x-webhook-delivery']).toBe(body['id']);
    const signature = request.headers['x-webhook-signature'] as string;
    expect(verifyWebhookSignature('whsec_test_0001', request.body, signature)).toBe(true);
  });

  test('shows its delivery and attempt to a peer with a token', async () => {
    const route = `GET /internal/operator-deliveries?resource_id=${event.data.id}`;
    const list = await eventually(async () => {
      const response = await callOwner(apiOf(dispatcher), { route, caller: null });
      const body = (await response.json()) as { data: { status: string }[] };
      expect(body.data[0]?.status).toBe('succeeded');
      return body;
    });
    expect(list).toMatchObject({
      object: 'list',
      has_more: false,
      data: [
        {
          id: receiver.requests[0]!.headers['x-webhook-delivery'],
          event: 'charge.pix.paid',
          resource_id: event.data.id,
          endpoint_id: null,
          url: 'http://shop.receiver.example.com/hook',
          status: 'succeeded',
          next_attempt_at: null,
          attempts: [
            {
              number: 1,
              outcome: 'succeeded',
              status: 200,
              error: null,
              response_excerpt: '{}',
              address: '127.0.0.1',
              manual: false,
            },
          ],
        },
      ],
    });
  });

  test('that comes again adds nothing and sends nothing again', async () => {
    await topics.publish(event);
    // A later event of the same charge: when it is through, so is the repeated one before it.
    const next = aChargeEvent({
      account_id: event.account_id,
      charge: { id: event.data.id },
      sequence: 2,
    });
    await topics.publish(next);
    await eventually(() => expect(receiver.requests).toHaveLength(2));
    expect(receiver.requests.map(({ headers }) => headers['x-webhook-event'])).toEqual([
      'charge.pix.paid',
      'charge.pix.created',
    ]);
    expect(await count('deliveries')).toBe(2);
    expect(await count('destinations')).toBe(1);
  });

  test('without a destination makes no delivery', async () => {
    const before = await count('deliveries');
    const withoutUrl = aChargeEvent({ url: null });
    await topics.publish(withoutUrl);
    await topics.publish(aChargeEvent({ charge: { id: withoutUrl.data.id } }));
    await eventually(() => expect(receiver.requests).toHaveLength(3));
    expect(await count('deliveries')).toBe(before + 1);
  });

  test('is parked when it is wrong in itself, and a peer sees it', async () => {
    const broken = aChargeEvent({ charge: { id: 'no-uuid' } });
    await topics.publish(broken);
    const letters = await eventually(async () => {
      const response = await callOwner(apiOf(dispatcher), {
        route: 'GET /internal/dead-letters',
        caller: null,
      });
      const body = (await response.json()) as { data: { code: string; key: string }[] };
      expect(body.data).toHaveLength(1);
      return body.data;
    });
    expect(letters[0]).toMatchObject({ code: 'MESSAGE_INVALID', key: 'no-uuid' });
  });
});

describe('a process that answers and consumes nothing', () => {
  test('handles a parked event that an operator replays', async () => {
    const event = aChargeEvent();
    const id = await park(event);
    await using api = await startWebhookDispatcher(testConfig({ ...env, ROLES: 'api' }));
    const route = `POST /internal/dead-letters/${id}/replay`;
    await eventually(async () => {
      const response = await callOwner(apiOf(api), { route, caller: null });
      expect(await response.json()).toEqual({ id, object: 'dead_letter', replayed: true });
    });
    await eventually(() => {
      const bodies = receiver.requests.map(({ body }) => body.toString());
      expect(bodies.filter((body) => body.includes(event.data.id))).toHaveLength(1);
    });
  });
});

test('reconciliation shows a delivery that is pending and in no queue', async () => {
  const id = await queueDelivery(database.db, { endpointId: newId(), dueInMs: null });
  const { checks } = await reconcile(async (route, body) => {
    const answer = await callOwner(apiOf(dispatcher), { route, body, caller: null });
    return { status: answer.status, body: await answer.json() };
  }, false);
  expect(checks.find(({ name }) => name === 'delivery')?.breaks).toMatchObject([
    { kind: 'missing_right', id },
  ]);
});

describe('without Redis', () => {
  test('events are delivered all the same, by a sender of its own', async () => {
    const noRedis = { REDIS_URL: 'redis://127.0.0.1:1' };
    await dispatcher[Symbol.asyncDispose]();
    dispatcher = await startWebhookDispatcher(
      testConfig({ ...env, ...noRedis, ROLES: 'api,intake' }),
    );
    await using _sender = await startWebhookDispatcher(
      testConfig({ ...env, ...noRedis, ROLES: 'sender' }),
    );
    const event = aChargeEvent();
    await topics.publish(event);
    await eventually(() => {
      const bodies = receiver.requests.map(({ body }) => body.toString());
      expect(bodies.filter((body) => body.includes(event.data.id))).toHaveLength(1);
    });
  });
});

test('a process is ready as long as its tables answer', async () => {
  await using own = await createTestDatabase('webhook_dispatcher');
  await using sender = await startWebhookDispatcher(
    testConfig({ ...env, DATABASE_URL: own.url, ROLES: 'sender' }),
  );
  const readStatus = async () =>
    (await fetch(`http://127.0.0.1:${sender.ports.internal}/readyz`)).status;
  expect(await readStatus()).toBe(200);
  await using admin = createPool({ url: own.adminUrl, applicationName: 'test' });
  await admin.query(sql`alter table webhook_dispatcher.endpoints rename to elsewhere`);
  await eventually(async () => expect(await readStatus()).toBe(503));
});

function apiOf({ ports }: { ports: { api: number | null } }) {
  return { owner: 'webhook-dispatcher', url: `https://127.0.0.1:${ports.api}` } as const;
}

/** As a consumer leaves it that could not handle it. */
async function park(event: ChargeEvent): Promise<string> {
  const messages = Object.values(CHARGE_EVENTS);
  const codec = await warmCodec(testInfra().registryUrl, messages);
  const { groupId } = CONSUMER_GROUPS.dispatcherIntake;
  await parkMessage(database.db, groupId, {
    topic: TOPICS.chargesEvents,
    partition: 0,
    offset: 1_000_000n,
    key: event.data.id,
    headers: { type: event.type },
    value: await codec.encode(CHARGE_EVENTS[event.type], event),
    code: 'INTERNAL_ERROR',
    reason: 'test',
  });
  const [row] = await database.db.query<{ id: string }>(
    sql`select id from dead_letters where key = ${event.data.id}`,
  );
  return row?.id ?? '';
}

async function count(table: 'deliveries' | 'destinations'): Promise<number> {
  const rows = await database.db.query(
    table === 'deliveries' ? sql`select id from deliveries` : sql`select url from destinations`,
  );
  return rows.length;
}
