import { randomUUID } from 'node:crypto';

import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import {
  Charge,
  CHARGE_STATUSES,
  type Envelope,
  EventData,
  Instant,
  Payout,
  PAYOUT_STATUSES,
} from '../client/schemas.ts';
import { delivered, it, type ObservedCase, section, unobservable } from '../suite/case.ts';
import {
  createdWith,
  deliverToEndpoint,
  isSigned,
  isUnsigned,
  signatureOf,
} from '../world/endpoint-deliveries.ts';
import {
  deliveredCharge,
  type DeliveredCharge,
  deliveredPayout,
  deliveryOf,
  PAID_EVENTS,
} from '../world/fixtures.ts';
import type { Delivery } from '../world/receiver.ts';
import { DISPUTE_FORMAT_CASES } from './disputes.ts';

/** Checks every delivery of a charge from creation to payment. */
function ofEach(
  id: string,
  sentence: string,
  check: (delivery: Delivery, delivered: DeliveredCharge) => void,
): ObservedCase {
  return delivered(id, sentence, async (w) => {
    const delivered = await deliveredCharge(w);
    for (const delivery of delivered.deliveries.values()) check(delivery, delivered);
  });
}

function header(id: string, note: string, expected: (envelope: Envelope) => string): ObservedCase {
  return ofEach(`header.${id}`, `\`${id}\`: ${note}`, ({ headers, envelope }) =>
    equal(headers[id.toLowerCase()], expected(envelope), id),
  );
}

function field(id: keyof Envelope, note: string, expected: (one: Delivery) => unknown) {
  return ofEach(id, `envelope \`${id}\`: ${note}`, (delivery) =>
    equal(delivery.envelope[id], expected(delivery), id),
  );
}

function data(name: string, sentence: string, expected: (charge: Charge) => unknown) {
  return ofEach(`data.${name}`, sentence, ({ envelope }, { charge }) =>
    equal(envelope.data[name], expected(charge), `data.${name}`),
  );
}

function ofPayments(id: string, sentence: string, check: (envelope: Envelope) => void) {
  return delivered.funds(id, sentence, async (w) => {
    for (const { envelope } of (await deliveredPayout(w)).deliveries.values()) check(envelope);
  });
}

const part = (event: string, index: number): string => event.split('.')[index] ?? '';

export const FORMAT_CASES = section('format', [
  ofEach('post', 'Each delivery is an HTTP `POST`', ({ method }) =>
    equal(method, 'POST', 'method'),
  ),
  ofEach('json', 'with a JSON body', ({ headers, bytes }) => {
    holds(/^application\/json\b/.test(headers['content-type'] ?? ''), 'media type', headers);
    JSON.parse(bytes.toString('utf8'));
  }),
  header('X-Webhook-Event', 'full event name', ({ event }) => event),
  header('X-Webhook-Resource', 'first part of the name', ({ event }) => part(event, 0)),
  header('X-Webhook-Method', 'second part of the name', ({ event }) => part(event, 1)),
  header('X-Webhook-Delivery', 'delivery id (same as envelope `id`)', ({ id }) => id),
  ofEach('header.X-Webhook-Signature', '`X-Webhook-Signature`: `sha256=<hex>`', ({ headers }) =>
    holds(/^sha256=[0-9a-f]{64}$/.test(headers['x-webhook-signature'] ?? ''), 'it', headers),
  ),
  delivered('ids-differ', 'envelope `id`: delivery id, another for each delivery', async (w) => {
    const ids = [...(await deliveredCharge(w)).deliveries.values()].map((d) => d.envelope.id);
    equal(new Set(ids).size, PAID_EVENTS.length, 'different ids');
  }),
  field(
    'id',
    'string, equals `X-Webhook-Delivery`',
    ({ headers }) => headers['x-webhook-delivery'],
  ),
  field('object', '`event`', () => 'event'),
  ofEach('event', 'envelope `event`: full name', ({ envelope }) =>
    oneOf(envelope.event, PAID_EVENTS, 'event'),
  ),
  field('resource', 'first part', ({ envelope }) => part(envelope.event, 0)),
  field('method', 'second part', ({ envelope }) => part(envelope.event, 1)),
  field('action', 'third part', ({ envelope }) => part(envelope.event, 2)),
  ofEach('created_at', 'envelope `created_at`: ISO 8601 UTC', ({ envelope }) => {
    shaped(Instant, envelope.created_at, 'created_at');
  }),
  ofEach('data', 'envelope `data`: the charge, in the shape of the GET', ({ envelope }) => {
    shaped(Charge, envelope.data, 'data');
  }),
  data('object', '`data.object`: `charge`', () => 'charge'),
  data('id', '`data.id`: the id of the charge', ({ id }) => id),
  ofEach('data.status', '`data.status`: same vocabulary as the GET routes', ({ envelope }) =>
    oneOf(String(envelope.data['status']), [...CHARGE_STATUSES], 'data.status'),
  ),
  data('method', '`data.method`', () => 'pix'),
  data('amount', '`data.amount`: integer cents', ({ amount }) => amount),
  data('currency', '`data.currency`', () => 'BRL'),
  data('reference', '`reference` is in all events, status changes too', () => 'delivered'),
  data('created_at', '`data.created_at`', ({ created_at }) => created_at),
  delivered('data.like-read', '`data` of `paid` is the charge that a read gives', async (w) => {
    const { charge, deliveries } = await deliveredCharge(w);
    const data = shaped(Charge, deliveryOf(deliveries, 'charge.pix.paid').envelope.data, 'data');
    equal(data, await w.own.charges.read(charge.id), 'data and the charge');
  }),
  ofPayments('payment.data', '`data`: the payment, in the shape of the GET', ({ data }) => {
    shaped(Payout.omit({ object: true }), data, 'data');
  }),
  ofPayments('payment.object', '`data.object`: `payment`', ({ data }) =>
    equal(data['object'], 'payment', 'data.object'),
  ),
  ofPayments('payment.fields', '`data` of payments carries the eight named fields', (one) => {
    shaped(EventData, one.data, 'data');
  }),
  ofPayments('payment.status', 'same status vocabulary as the GET routes', ({ data }) =>
    oneOf(String(data['status']), [...PAYOUT_STATUSES], 'data.status'),
  ),
  ofPayments('payment.reference', '`reference` is present in all events', ({ data }) =>
    equal(data['reference'], 'delivered', 'data.reference'),
  ),
  it.receiver('unsigned', '`X-Webhook-Signature`: present only when a secret exists', async (w) => {
    for (const delivery of await createdWith(w, {})) isUnsigned(delivery);
  }),
  it.receiver('no-secret', 'a delivery does not carry the secret', async (w) => {
    const webhook_secret = `whsec_${randomUUID()}`;
    for (const { bytes } of await createdWith(w, { webhook_secret })) {
      holds(!bytes.includes(webhook_secret), 'no secret in the body', 'the secret');
    }
  }),
  ...DISPUTE_FORMAT_CASES,
]);

export const SIGNATURE_CASES = section('signature', [
  ofEach('resource', '`webhook_secret`: HMAC SHA-256 of the exact raw body', (delivery, one) =>
    isSigned(delivery, one.secret),
  ),
  ofEach('hexadecimal', 'as hexadecimal, prefixed `sha256=`', ({ headers }) =>
    holds(/^sha256=[0-9a-f]{64}$/.test(headers['x-webhook-signature'] ?? ''), 'it', headers),
  ),
  ofEach('raw', 'over the raw body: another byte gives another signature', (delivery, one) => {
    const bytes = Buffer.concat([delivery.bytes, Buffer.from(' ')]);
    const signature = delivery.headers['x-webhook-signature'];
    holds(signatureOf(one.secret, bytes) !== signature, 'another', signature);
  }),
  it.receiver('endpoint', '`secret` of a registered endpoint: the same signature', async (w) => {
    const secret = `whsec_${randomUUID()}`;
    const events = ['charge.pix.created'];
    const deliveries = await deliverToEndpoint(w, { secret, events });
    for (const delivery of deliveries) isSigned(delivery, secret);
  }),
  it.receiver('endpoint-unsigned', 'an endpoint without a secret gets no signature', async (w) => {
    const events = ['charge.pix.created'];
    for (const delivery of await deliverToEndpoint(w, { events })) isUnsigned(delivery);
  }),
  it.receiver('unicode', 'a secret beyond ASCII signs by its UTF-8 bytes', async (w) => {
    const webhook_secret = 'segredo não ASCII ção';
    const deliveries = await createdWith(w, { webhook_secret });
    for (const delivery of deliveries) isSigned(delivery, webhook_secret);
  }),
  unobservable(
    'receiver',
    'The receiver compares in constant time and refuses a mismatch with `401`',
    'a duty of the receiver, not of the installation',
  ),
]);
