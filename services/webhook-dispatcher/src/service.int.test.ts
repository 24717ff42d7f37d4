import { createTokenSigner } from '@pixmesh/http/service-token';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type ChargesTopic,
  openChargesTopic,
  sealingKeys,
  testConfig,
  testEnvironment,
  tokenKeys,
} from '#testing/test-dispatcher.ts';
import { aChargeEvent } from '#testing/a-charge-event.ts';
import { type Receiver, startReceiver } from '#testing/start-receiver.ts';

import { startWebhookDispatcher, type WebhookDispatcher } from './service.ts';

let database: TestDatabase;
let receiver: Receiver;
let topic: ChargesTopic;
let dispatcher: WebhookDispatcher;

beforeAll(async () => {
  const { topicPrefix } = await createTestTopics();
  [database, receiver, topic] = await Promise.all([
    createTestDatabase('webhook_dispatcher'),
    startReceiver(),
    openChargesTopic(topicPrefix),
  ]);
  const env = testEnvironment({
    databaseUrl: database.url,
    topicPrefix,
    receiverPort: receiver.port,
  });
  dispatcher = await startWebhookDispatcher(testConfig(env));
});

afterAll(async () => {
  await dispatcher[Symbol.asyncDispose]();
  await topic[Symbol.asyncDispose]();
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
    await topic.publish(event);
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
    const sign = await createTokenSigner(tokenKeys.privateKeys['gateway']!);
    const url = `http://127.0.0.1:${dispatcher.apiPort}/internal/deliveries?resource_id=${event.data.id}`;
    expect((await fetch(url)).status).toBe(401);
    const list = await eventually(async () => {
      const headers = { 'x-pixmesh-token': await sign('webhook-dispatcher', null) };
      const response = await fetch(url, { headers });
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
});
