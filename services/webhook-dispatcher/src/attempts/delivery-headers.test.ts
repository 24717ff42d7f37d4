import { describe, expect, test } from 'vitest';

import { deliveryHeaders } from './delivery-headers.ts';

const ID = '0b9f2c1e-8a57-4f0e-9a35-6d2f9c4b7a10';
/** The fixed vector of decision 203. */
const BODY = Buffer.from(`{"id":"${ID}","object":"event","event":"charge.pix.paid"}`);
const SIGNATURE = 'sha256=86444521f200dd58c60da5b0de20548b6988fcaeb46c1ee5d7df4f44dd66db05';

describe('headers of a delivery', () => {
  test('are those of the specification, with the signature of the exact body', () => {
    const headers = deliveryHeaders({
      id: ID,
      event: 'charge.pix.paid',
      body: BODY,
      secret: 'whsec_test_0001',
    });
    expect(headers).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'Pixmesh-Webhooks/1',
      'Accept-Encoding': 'identity',
      'X-Webhook-Event': 'charge.pix.paid',
      'X-Webhook-Resource': 'charge',
      'X-Webhook-Method': 'pix',
      'X-Webhook-Delivery': ID,
      'X-Webhook-Signature': SIGNATURE,
    });
  });

  test('name no method where the event has none', () => {
    const headers = deliveryHeaders({ id: ID, event: 'webhook.test', body: BODY, secret: null });
    expect(headers).toMatchObject({
      'X-Webhook-Event': 'webhook.test',
      'X-Webhook-Resource': 'webhook',
    });
    expect(Object.keys(headers)).not.toContain('X-Webhook-Method');
  });

  test('have no signature where there is no secret', () => {
    const headers = deliveryHeaders({ id: ID, event: 'charge.pix.paid', body: BODY, secret: null });
    expect(Object.keys(headers)).not.toContain('X-Webhook-Signature');
  });
});
