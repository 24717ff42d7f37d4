import { randomUUID } from 'node:crypto';

import { equal, ExpectationError, shaped } from '../client/expectations.ts';
import { CatalogEntry, type Endpoint, listOf, Payout } from '../client/schemas.ts';
import { aCustomer, aPixKey, type Kind, type Merchant, PAYOUT_BODY } from './merchant.ts';
import type { Delivery, Hook } from './receiver.ts';
import { until } from './until.ts';
import { aPaidCharge, fundedMerchant, PAYING_ACCOUNT, shared, type World } from './world.ts';

/** Things that several cases check; each is made once per run. */

export const REFUSAL_MESSAGE = 'Documento do devedor bloqueado pelo participante';

/** Seconds that a full charge accepts payment. */
export const EXPIRES_IN = 3_600;

/** A charge with every field that a body can carry, and what was sent. */
export const fullCharge = shared(async (w) => {
  const sent = {
    amount: 4_321,
    description: 'Pedido 77',
    reference: `ref-${randomUUID()}`,
    expires_in: EXPIRES_IN,
    webhook_url: `${w.hookBase}/${randomUUID()}`,
    webhook_secret: `whsec_${randomUUID()}`,
  };
  return { sent, charge: await w.own.charges.create(sent) };
});

/** A charge of nothing but what is required. */
export const bareCharge = shared((w) => w.own.charges.create());

export const paidCharge = shared((w) => aPaidCharge(w, w.own, { reference: 'paid' }));

/** A charge that the acquirer refused to issue. */
export const refusedCharge = shared(async (w) => {
  const key = randomUUID();
  const hook = w.abilities.has('receiver') ? w.receiver.hook() : null;
  const customer = aCustomer();
  const body = { customer, reference: 'refused', webhook_url: hook?.url ?? null };
  const only = { debtor: customer.name };
  const refusal = { operation: 'issueCharge', fault: 'refusal', count: 1, only };
  const rule = { ...refusal, message: REFUSAL_MESSAGE };
  const answer = await w.simulator.withFault(rule, () => w.own.charges.post(body, key));
  return { answer, key, body, hook };
});

/** A payout with every field that a body can carry, and what was sent. */
export const fullPayout = shared(async (w) => {
  const sent = {
    amount: 700,
    pix_key_type: 'cpf',
    pix_key: '529.982.247-25',
    recipient_name: 'Ana Souza',
    recipient_document: '529.982.247-25',
    description: 'Repasse 9',
    reference: `ref-${randomUUID()}`,
    webhook_url: `${w.hookBase}/${randomUUID()}`,
    webhook_secret: `whsec_${randomUUID()}`,
  };
  return { sent, payout: await w.own.payouts.create(sent) };
});

export const barePayout = shared((w) => w.own.payouts.create());

export const completedPayout = shared(async (w) => {
  const { id } = await w.own.payouts.create({ reference: 'completed' });
  return await w.own.payouts.until(id, 'completed');
});

/** A payout that the recipient's institution refused, of a merchant whose balance nothing else moves. */
export const failedPayout = shared(async (w) => {
  const merchant = await fundedMerchant(w, 50_000);
  const before = await merchant.balance();
  const pix_key = aPixKey();
  const rule = { operation: 'settlePayout', fault: 'hang', only: { pix_key } };
  const { created, during } = await w.simulator.withFault(rule, async () => {
    const created = await merchant.payouts.create({ pix_key, reference: 'failed' });
    const during = await merchant.balance();
    await until(() => w.simulator.reject(created.id, 'Conta encerrada'));
    return { created, during };
  });
  const ended = await merchant.payouts.until(created.id, 'failed');
  return { created, ended, before, during, after: await merchant.balance() };
});

/** A merchant whose payouts wait for somebody in the dashboard. */
export const manualMerchant = shared((w) => fundedMerchant(w, 50_000, MANUAL_ACCOUNT));

export const MANUAL_ACCOUNT = { ...PAYING_ACCOUNT, auto_payout_enabled: false };

/** A payout of the approval queue that was then canceled there. */
export const canceledPayout = shared(async (w) => {
  const merchant = await fundedMerchant(w, 50_000, MANUAL_ACCOUNT);
  const before = await merchant.balance();
  const created = await merchant.payouts.create();
  const during = await merchant.balance();
  await w.admin.call(`POST /admin/payouts/${created.id}/cancel`);
  const ended = await merchant.payouts.until(created.id, 'canceled');
  const after = await until(async () => {
    const balance = await merchant.balance();
    equal(balance.available, before.available, 'the available balance after the cancellation');
    return balance;
  });
  return { merchant, created, ended, before, during, after };
});

/** A payout that is asked for in the dashboard. */
export async function requestPayout(w: World, merchant: Merchant, changes: object) {
  const path = `/admin/accounts/${merchant.ids.accountId}/payouts`;
  const body = { ...PAYOUT_BODY, ...changes };
  const made = await w.admin.call(`POST ${path}`, { body, status: 201 });
  return shaped(Payout.pick({ id: true }), made, 'the payout of the dashboard').id;
}

/** Another key of `world.own`, with this scope alone. */
export function keyWith(world: World, scope: string): Promise<Merchant> {
  return world.once(`key with ${scope}`, () =>
    world.admin.createKey(world.own, { scopes: [scope] }),
  );
}

/** Another application of the account of `world.own`. */
export const sisterApplication = shared((w) => w.admin.createApplication(w.own.ids.accountId));

export const catalog = shared(async (w) => {
  return (await w.own.read('/webhooks/events', listOf(CatalogEntry))).data;
});

/** Four charges or payouts in one window of time, newest first. */
export function fourOf(world: World, kind: Kind) {
  return world.once(`four ${kind}`, async () => {
    const merchant = await freshMerchant(world, kind === 'payouts');
    const items: { id: string; created_at: string }[] = [];
    for (const reference of ['first', 'second', 'third', 'fourth']) {
      items.unshift(await merchant[kind].create({ reference }));
    }
    return { merchant, items };
  });
}

/** A merchant with nothing but what a case makes, where that is possible. */
export async function freshMerchant(world: World, withFunds = false): Promise<Merchant> {
  const { abilities, admin, own } = world;
  if (!abilities.has('admin') || (withFunds && !abilities.has('simulator'))) return own;
  if (!withFunds) return await admin.createAccount();
  return await fundedMerchant(world, 10_000);
}

/** Registers an endpoint for the time of a case. */
export async function withEndpoint<T>(
  world: World,
  fields: Record<string, unknown>,
  check: (endpoint: Endpoint) => Promise<T> | T,
): Promise<T> {
  const { endpoints } = world.own;
  const endpoint = await endpoints.create(fields);
  try {
    return await check(endpoint);
  } finally {
    await endpoints.remove(endpoint.id);
  }
}

export const PAID_EVENTS = ['charge.pix.created', 'charge.pix.emitted', 'charge.pix.paid'];
export const PAYOUT_EVENTS = ['payment.pix.created', 'payment.pix.processing'];

/** A charge with an URL and a secret of its own, from creation to payment. */
export const deliveredCharge = shared(async (w) => {
  const { hook, secret, fields } = watched(w);
  const charge = await w.own.charges.create(fields);
  await w.simulator.pay(charge.id);
  return { charge, secret, deliveries: await hook.expectEvents(PAID_EVENTS) };
});
export type DeliveredCharge = Awaited<ReturnType<typeof deliveredCharge>>;

/** A payout with an URL of its own, until it has settled. */
export const deliveredPayout = shared(async (w) => {
  const { hook, fields } = watched(w);
  const { id } = await w.own.payouts.create(fields);
  const payout = await w.own.payouts.until(id, 'completed');
  return { payout, deliveries: await hook.expectEvents(PAYOUT_EVENTS) };
});

/** A hook of its own, and the fields of a body whose events go there. */
function watched(w: World): { hook: Hook; secret: string; fields: object } {
  const hook = w.receiver.hook();
  const secret = `whsec_${randomUUID()}`;
  const fields = { reference: 'delivered', webhook_url: hook.url, webhook_secret: secret };
  return { hook, secret, fields };
}

export function deliveryOf(deliveries: ReadonlyMap<string, Delivery>, event: string): Delivery {
  const delivery = deliveries.get(event);
  if (delivery === undefined) throw new ExpectationError('the deliveries', event, 'not there');
  return delivery;
}
