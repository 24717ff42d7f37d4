import { createHmac, timingSafeEqual } from 'node:crypto';

import { equal, ExpectationError } from '../client/expectations.ts';
import { createEndpoint, freshMerchant, removeEndpoint } from './fixtures.ts';
import { createCharge } from './merchant.ts';
import type { Delivery } from './receiver.ts';
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

type EndpointFields = { events: string[]; secret?: string };

/** What a new endpoint gets of one new charge. */
export async function deliverToEndpoint(world: World, fields: EndpointFields): Promise<Delivery[]> {
  const hook = world.receiver.hook();
  const merchant = await freshMerchant(world);
  const endpoint = await createEndpoint(merchant, { url: hook.url, ...fields });
  const { id } = await createCharge(merchant);
  const deliveries = await until(async () => {
    const all = await hook.deliveries();
    const own = all.filter(({ envelope }) => envelope.data['id'] === id);
    equal(own.length, fields.events.length, 'deliveries of the charge');
    return own;
  });
  await removeEndpoint(merchant, endpoint.id);
  return deliveries;
}
