import { randomUUID } from 'node:crypto';

import { aHook, register } from '../e2e/hooks.ts';
import { aMerchant, type Merchant, v1 } from '../e2e/mesh.ts';

/** A merchant, and the place at the receiver that receives every event of it. */
export type SubscribedMerchant = Merchant & { hookPath: string };

export async function aSubscribedMerchant(settings: object = {}): Promise<SubscribedMerchant> {
  const approved = { onboarding_status: 'approved', name: randomUUID() };
  const merchant = await aMerchant({ ...approved, ...settings });
  const hook = aHook();
  const catalogue = await v1(merchant, 'GET /webhooks/events');
  const events = catalogue.body.data.map((entry: { event: string }) => entry.event);
  await register(merchant, { url: hook.url, events });
  return { ...merchant, hookPath: hook.path };
}
