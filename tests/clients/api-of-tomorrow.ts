import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
  ACCOUNT,
  CHARGE,
  DISPUTE,
  PAYMENT,
  PAYOUT,
} from '@pixmesh/contracts/openapi/resource-examples';

/** Resources as they may come within v1: fields and values that no client of today knows. */
const CHARGE_OF_TOMORROW = {
  ...CHARGE,
  status: 'partially_paid',
  method: 'boleto',
  receiver: { ...CHARGE.receiver, account_type: 'wallet', pix_key_type: 'nickname' },
  paid_amount: 1,
};
const PAYOUT_OF_TOMORROW = { ...PAYOUT, status: 'scheduled', method: 'ted', priority: 'low' };
const PAYMENT_OF_TOMORROW = { ...PAYMENT, status: 'scheduled' };
const DISPUTE_OF_TOMORROW = { ...DISPUTE, reason: 'regret', status: 'appealed' };
const ACCOUNT_OF_TOMORROW = {
  ...ACCOUNT,
  status: 'frozen',
  onboarding_status: 'expired',
  document_type: 'passport',
};

const EVENT_OF_TOMORROW = 'charge.pix.partially_paid';

const EVENTS: readonly (readonly [string, object])[] = [
  [EVENT_OF_TOMORROW, CHARGE_OF_TOMORROW],
  ['payment.pix.scheduled', PAYMENT_OF_TOMORROW],
  ['dispute.pix.appealed', DISPUTE_OF_TOMORROW],
  ['mandate.pix.signed', { object: 'mandate', id: randomUUID(), status: 'signed' }],
];

/** An installation of tomorrow and the receiver of its deliveries, for clients that were generated today. */
export async function startApiOfTomorrow(
  secret: string,
): Promise<{ url: string } & AsyncDisposable> {
  const answers: Record<string, [number, object]> = {
    charges: [200, CHARGE_OF_TOMORROW],
    payouts: [200, listOf([PAYOUT_OF_TOMORROW])],
    account: [200, ACCOUNT_OF_TOMORROW],
    webhooks: [
      200,
      listOf([{ ...splitName(EVENT_OF_TOMORROW), description: 'Partly paid', dispatched: true }]),
    ],
    balance: [403, { code: 'KEY_FROZEN', message: 'No.', details: [] }],
    requests: [200, { data: deliver(secret) }],
  };
  const server = createServer((request, response) => {
    const [, resource = ''] = /^\/(?:v1\/)?(\w+)/.exec(request.url ?? '') ?? [];
    const [status, body] = answers[resource] ?? [404, {}];
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': randomUUID(),
    });
    response.end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function listOf(data: readonly object[]): object {
  return { object: 'list', data, has_more: false };
}

function splitName(event: string): object {
  const [resource, method, action] = event.split('.');
  return { event, resource, method, action };
}

/** As the development receiver shows them: each event signed, and one that is not ours. */
function deliver(secret: string): object[] {
  const bodies = EVENTS.map(([event, data]) =>
    JSON.stringify({
      id: randomUUID(),
      object: 'event',
      ...splitName(event),
      created_at: '2027-11-20T15:31:02.345Z',
      data,
    }),
  );
  const [first = ''] = bodies;
  return [
    ...bodies.map((body) => toRequest(body, secret)),
    toRequest(first, `${secret} of somebody else`),
  ];
}

function toRequest(body: string, secret: string): object {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return {
    headers: { 'x-webhook-signature': signature },
    body_base64: Buffer.from(body).toString('base64'),
  };
}
