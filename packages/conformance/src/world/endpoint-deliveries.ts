import { createHmac, timingSafeEqual } from 'node:crypto';

import { equal, ExpectationError, holds } from '../client/expectations.ts';
import { freshMerchant } from './fixtures.ts';
import type { Merchant } from './merchant.ts';
import type { Delivery, Hook } from './receiver.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

/** What a charge announces when it is made. */
export const CREATED_EVENTS = ['charge.pix.created', 'charge.pix.emitted'];

export function signatureOf(secret: string, bytes: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`;
}

export function isSigned({ headers, bytes }: Delivery, secret: string): void {
  const [expected, got] = [signatureOf(secret, bytes), headers['x-webhook-signature'] ?? ''];
  const same = expected.length === got.length;
  if (same && timingSafeEqual(Buffer.from(expected), Buffer.from(got))) return;
  throw new ExpectationError('the signature of the raw body', expected, got);
}

export function isUnsigned({ headers }: Delivery): void {
  holds(!('x-webhook-signature' in headers), 'no signature', Object.keys(headers));
}

/** What arrives of a new charge whose URL and other fields are these. */
export async function createdWith(world: World, fields: object): Promise<Delivery[]> {
  const hook = world.receiver.hook();
  await world.own.charges.create({ webhook_url: hook.url, ...fields });
  return [...(await hook.expectEvents(CREATED_EVENTS)).values()];
}

type EndpointFields = { events: string[]; secret?: string; url?: string };

/** A fresh merchant with an endpoint at a hook of its own, until `run` has ended. */
export async function withListener<T>(
  world: World,
  fields: EndpointFields,
  run: (merchant: Merchant, hook: Hook) => Promise<T>,
): Promise<T> {
  const hook = world.receiver.hook();
  const merchant = await freshMerchant(world);
  const { id } = await merchant.endpoints.create({ url: hook.url, ...fields });
  const result = await run(merchant, hook);
  await merchant.endpoints.remove(id);
  return result;
}

/** What a new endpoint gets of one new charge. */
export function deliverToEndpoint(world: World, fields: EndpointFields): Promise<Delivery[]> {
  return withListener(world, fields, async (merchant, hook) => {
    const { id } = await merchant.charges.create();
    return await until(async () => {
      const all = await hook.deliveries();
      const own = all.filter(({ envelope }) => envelope.data['id'] === id);
      equal(own.length, fields.events.length, 'deliveries of the charge');
      return own;
    });
  });
}
