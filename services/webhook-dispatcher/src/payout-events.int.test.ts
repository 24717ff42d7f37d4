import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ResourceEvent } from '#intake/read-event.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { aPayoutEvent } from '#test/a-payout-event.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';
import {
  openResourceTopics,
  type ResourceTopics,
  sealingKeys,
  testConfig,
  testEnvironment,
} from '#test/test-dispatcher.ts';

import { startWebhookDispatcher } from './service.ts';

const SECRET = 'whsec_test_0002';

let database: TestDatabase;
let receiver: Receiver;
let topics: ResourceTopics;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const { topicPrefix } = await createTestTopics();
  [database, receiver, topics] = await Promise.all([
    createTestDatabase('webhook_dispatcher'),
    startReceiver(),
    openResourceTopics(topicPrefix),
  ]);
  env = testEnvironment({ databaseUrl: database.url, topicPrefix, receiverPort: receiver.port });
});

afterAll(async () => {
  await topics[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** One payout's or charge's events, in their order, signed with the secret that it was created with. */
function aLife(types: readonly ResourceEvent['type'][]): ResourceEvent[] {
  const [account_id, id] = [newId(), newId()];
  const secret = { clear: SECRET, publicKey: sealingKeys.publicKey };
  return types.map((type, index) => {
    const envelope = { account_id, sequence: index + 1, secret };
    return type.startsWith('charge.')
      ? aChargeEvent({ ...envelope, charge: { id }, type: type as 'charge.pix.paid' })
      : aPayoutEvent({ ...envelope, payout: { id }, type: type as 'payment.pix.created' });
  });
}

async function publishAll(events: readonly ResourceEvent[]): Promise<void> {
  for (const event of events) await topics.publish(event);
}

function requestsFor(event: ResourceEvent) {
  return receiver.requests.filter(({ body }) => body.includes(event.data.id));
}

function eventsSentFor(event: ResourceEvent): unknown[] {
  return requestsFor(event).map(({ headers }) => headers['x-webhook-event']);
}

test('a payout’s events are delivered and signed, and its completion is not while its flag is off', async () => {
  await using _dispatcher = await startWebhookDispatcher(testConfig(env));
  const types = [
    'payment.pix.created',
    'payment.pix.processing',
    'payment.pix.completed',
    'payment.pix.failed',
  ] as const;
  const life = aLife(types);
  await publishAll(life);
  const requests = await eventually(() => {
    expect(requestsFor(life[0]!)).toHaveLength(3);
    return requestsFor(life[0]!);
  });
  expect(eventsSentFor(life[0]!).sort()).toEqual(
    types.filter((type) => type !== 'payment.pix.completed').sort(),
  );
  // The last event of the key was taken, so the one before it was too.
  const rows = await database.db.query(
    sql`select id from deliveries where resource_id = ${life[0]!.data.id}`,
  );
  expect(rows).toHaveLength(3);
  for (const request of requests) {
    expect(request.headers).toMatchObject({
      'x-webhook-resource': 'payment',
      'x-webhook-method': 'pix',
    });
    const signature = request.headers['x-webhook-signature'] as string;
    expect(verifyWebhookSignature(SECRET, request.body, signature)).toBe(true);
    expect(JSON.parse(request.body.toString())).toMatchObject({
      object: 'event',
      resource: 'payment',
      data: { object: 'payment', id: life[0]!.data.id, reference: 'order-1' },
    });
  }
});

test('one flag makes completions go out, and another keeps an event of charges from going out', async () => {
  const flipped = new Set(['payment.pix.completed', 'charge.pix.paid']);
  await using _dispatcher = await startWebhookDispatcher(testConfig(env), {
    isDispatched: (event) => isDispatched(event) !== flipped.has(event),
  });
  const payout = aLife(['payment.pix.created', 'payment.pix.completed']);
  const charge = aLife(['charge.pix.paid', 'charge.pix.failed']);
  await publishAll([...charge, ...payout]);
  await eventually(() => {
    expect(eventsSentFor(payout[0]!).sort()).toEqual([
      'payment.pix.completed',
      'payment.pix.created',
    ]);
    expect(eventsSentFor(charge[0]!)).toEqual(['charge.pix.failed']);
  });
});
