import { randomUUID } from 'node:crypto';

import type { Answer } from '../client/http-client.ts';
import {
  Account,
  Balance,
  CatalogEntry,
  type Charge,
  Endpoint,
  listOf,
  type Payout,
  Payout as PayoutResource,
} from '../client/schemas.ts';
import { equal, ExpectationError, shaped } from '../client/expectations.ts';
import {
  aChargeBody,
  aPayoutBody,
  bodyWith,
  createCharge,
  createPayout,
  type Kind,
  type Merchant,
  postCharge,
  read,
  readCharge,
  readPayout,
} from './merchant.ts';
import { idsOf } from './admin.ts';
import type { Delivery, Hook } from './receiver.ts';
import { until } from './until.ts';
import { PAYING_ACCOUNT, type World } from './world.ts';

/** Things that several cases check; each is made once per run. */

export const REFUSAL_MESSAGE = 'Documento do devedor bloqueado pelo participante';

/** A charge with every field that a body can carry, and what was sent. */
export function fullCharge(world: World): Promise<{ sent: FullChargeBody; charge: Charge }> {
  return world.once('full charge', async () => {
    const sent = aFullChargeBody(world);
    return { sent, charge: await createCharge(world.own, sent) };
  });
}

/** Seconds that a full charge accepts payment. */
export const EXPIRES_IN = 3_600;

type FullChargeBody = ReturnType<typeof aFullChargeBody>;

function aFullChargeBody(world: World) {
  return {
    amount: 4_321,
    description: 'Pedido 77',
    reference: `ref-${randomUUID()}`,
    expires_in: EXPIRES_IN,
    webhook_url: `${world.hookBase}/${randomUUID()}`,
    webhook_secret: `whsec_${randomUUID()}`,
  };
}

/** A charge of nothing but what is required. */
export function bareCharge(world: World): Promise<Charge> {
  return world.once('bare charge', () => createCharge(world.own));
}

export function paidCharge(world: World): Promise<Charge> {
  return world.once('paid charge', async () => {
    const charge = await createCharge(world.own, { reference: 'paid' });
    await world.simulator.pay(charge.id);
    return await untilCharge(world.own, charge.id, 'paid');
  });
}

export async function untilCharge(
  merchant: Merchant,
  id: string,
  status: Charge['status'],
): Promise<Charge> {
  return await until(async () => {
    const charge = await readCharge(merchant, id);
    equal(charge.status, status, 'the status of the charge');
    return charge;
  });
}

export async function untilPayout(
  merchant: Merchant,
  id: string,
  status: Payout['status'],
): Promise<Payout> {
  return await until(async () => {
    const payout = await readPayout(merchant, id);
    equal(payout.status, status, 'the status of the payout');
    return payout;
  });
}

/** A charge that the acquirer refused to issue; only cases that run alone may ask for it. */
export function refusedCharge(
  world: World,
): Promise<{ answer: Answer; key: string; body: object; hook: Hook | null }> {
  return world.once('refused charge', async () => {
    const key = randomUUID();
    const hook = world.abilities.has('receiver') ? world.receiver.hook() : null;
    const body = aChargeBody({ reference: 'refused', webhook_url: hook?.url ?? null });
    const refusal = { operation: 'issueCharge', fault: 'refusal', count: 1 };
    const answer = await world.simulator.withFaults(
      [{ ...refusal, message: REFUSAL_MESSAGE }],
      () => postCharge(world.own, body, key),
    );
    return { answer, key, body, hook };
  });
}

/** A payout with every field that a body can carry, and what was sent. */
export function fullPayout(world: World): Promise<{ sent: FullPayoutBody; payout: Payout }> {
  return world.once('full payout', async () => {
    const sent = aFullPayoutBody(world);
    return { sent, payout: await createPayout(world.own, sent) };
  });
}

type FullPayoutBody = ReturnType<typeof aFullPayoutBody>;

function aFullPayoutBody(world: World) {
  return {
    amount: 700,
    pix_key_type: 'cpf',
    pix_key: '529.982.247-25',
    recipient_name: 'Ana Souza',
    recipient_document: '529.982.247-25',
    description: 'Repasse 9',
    reference: `ref-${randomUUID()}`,
    webhook_url: `${world.hookBase}/${randomUUID()}`,
    webhook_secret: `whsec_${randomUUID()}`,
  };
}

export function barePayout(world: World): Promise<Payout> {
  return world.once('bare payout', () => createPayout(world.own));
}

export function completedPayout(world: World): Promise<Payout> {
  return world.once('completed payout', async () => {
    const payout = await createPayout(world.own, { reference: 'completed' });
    return await untilPayout(world.own, payout.id, 'completed');
  });
}

export type PayoutStory = { created: Payout; ended: Payout; before: Balance; after: Balance };

/** A payout that the recipient's institution refused; only cases that run alone may ask for it. */
export function failedPayout(world: World): Promise<PayoutStory & { during: Balance }> {
  return world.once('failed payout', async () => {
    const merchant = await payingMerchant(world);
    const before = await readBalance(merchant);
    const rule = { operation: 'settlePayout', fault: 'hang' };
    const { created, during } = await world.simulator.withFaults([rule], async () => {
      const created = await createPayout(merchant, { reference: 'failed' });
      const during = await readBalance(merchant);
      await until(() => world.simulator.reject(created.id, 'Conta encerrada'));
      return { created, during };
    });
    const ended = await untilPayout(merchant, created.id, 'failed');
    return { created, ended, before, during, after: await readBalance(merchant) };
  });
}

/** A merchant with money whose balance only one story at a time moves. */
export function payingMerchant(world: World): Promise<Merchant> {
  return world.once('paying merchant', async () => {
    const merchant = await world.admin.createAccount(PAYING_ACCOUNT);
    await world.fund(merchant, 50_000);
    return merchant;
  });
}

/** A merchant whose payouts wait for somebody in the dashboard. */
export function manualMerchant(world: World): Promise<Merchant> {
  return world.once('manual merchant', () => createManualMerchant(world));
}

async function createManualMerchant(world: World): Promise<Merchant> {
  const settings = { ...PAYING_ACCOUNT, auto_payout_enabled: false };
  const merchant = await world.admin.createAccount(settings);
  await world.fund(merchant, 50_000);
  return merchant;
}

/** A payout of the approval queue that was then canceled there. */
export function canceledPayout(
  world: World,
): Promise<PayoutStory & { during: Balance; merchant: Merchant }> {
  return world.once('canceled payout', async () => {
    const merchant = await createManualMerchant(world);
    const before = await readBalance(merchant);
    const created = await createPayout(merchant);
    const during = await readBalance(merchant);
    await world.admin.call(`POST /admin/payouts/${created.id}/cancel`);
    const ended = await untilPayout(merchant, created.id, 'canceled');
    const after = await until(async () => {
      const balance = await readBalance(merchant);
      equal(balance.available, before.available, 'the available balance after the cancellation');
      return balance;
    });
    return { merchant, created, ended, before, during, after };
  });
}

/** A payout that is asked for in the dashboard. */
export async function requestPayout(
  world: World,
  merchant: Merchant,
  changes: object,
): Promise<string> {
  const path = `/admin/accounts/${idsOf(merchant).accountId}/payouts`;
  const options = { body: aPayoutBody(changes), status: 201 };
  const made = await world.admin.call(`POST ${path}`, options);
  return shaped(PayoutResource.pick({ id: true }), made, 'the payout of the dashboard').id;
}

/** Another application of the account of `world.own`. */
export function sisterApplication(world: World): Promise<Merchant> {
  const accountId = world.own.ids?.accountId;
  if (accountId === undefined) throw new Error('the account of this merchant is not known');
  return world.once('sister application', () => world.admin.createApplication(accountId));
}

export async function readBalance(merchant: Merchant): Promise<Balance> {
  return await read(merchant, '/balance', Balance);
}

export async function readAccount(merchant: Merchant): Promise<Account> {
  return await read(merchant, '/account', Account);
}

export function catalog(world: World): Promise<CatalogEntry[]> {
  return world.once('catalog', async () => {
    return (await read(world.own, '/webhooks/events', listOf(CatalogEntry))).data;
  });
}

/** Four charges or payouts in one window of time, newest first. */
export function fourOf(
  world: World,
  kind: Kind,
): Promise<{ merchant: Merchant; items: (Charge | Payout)[] }> {
  return world.once(`four ${kind}`, async () => {
    const merchant = await freshMerchant(world, kind === 'payouts');
    const create = kind === 'charges' ? createCharge : createPayout;
    const items: (Charge | Payout)[] = [];
    for (const reference of ['first', 'second', 'third', 'fourth']) {
      items.unshift(await create(merchant, { reference }));
    }
    return { merchant, items };
  });
}

/** A merchant with nothing but what a case makes, where that is possible. */
export async function freshMerchant(world: World, withFunds = false): Promise<Merchant> {
  const { abilities, admin, own } = world;
  if (!abilities.has('admin') || (withFunds && !abilities.has('simulator'))) return own;
  if (!withFunds) return await admin.createAccount();
  const merchant = await admin.createAccount(PAYING_ACCOUNT);
  await world.fund(merchant, 10_000);
  return merchant;
}

export const ENDPOINT_EVENTS = ['charge.pix.paid', 'charge.pix.created'];

/**
 * A registered endpoint, found by its URL in the list: the answer of the creation is not shown in the
 * specification.
 */
export async function createEndpoint(
  merchant: Merchant,
  body: { url: string } & Record<string, unknown>,
): Promise<Endpoint> {
  const answer = await merchant.call('POST /v1/webhooks', {
    body: { events: ENDPOINT_EVENTS, ...body },
  });
  if (answer.status !== 200 && answer.status !== 201) bodyWith(answer, 201);
  return await findEndpoint(merchant, body.url);
}

export async function findEndpoint(merchant: Merchant, url: string): Promise<Endpoint> {
  const found = (await listEndpoints(merchant)).find((endpoint) => endpoint.url === url);
  if (found === undefined) throw new ExpectationError('the list of endpoints', url, 'not there');
  return found;
}

export async function listEndpoints(merchant: Merchant): Promise<Endpoint[]> {
  return (await read(merchant, '/webhooks', listOf(Endpoint))).data;
}

/** Removes what a case registered, so that a shared application stays below any limit of endpoints. */
export async function removeEndpoint(merchant: Merchant, id: string): Promise<void> {
  bodyWith(await merchant.call(`DELETE /v1/webhooks/${id}`), 204);
}

export function endpointUrl(world: World): string {
  return `${world.hookBase}/${randomUUID()}`;
}

/** Registers an endpoint for the time of a case. */
export async function withEndpoint<T>(
  world: World,
  fields: Record<string, unknown>,
  check: (endpoint: Endpoint) => Promise<T> | T,
): Promise<T> {
  const endpoint = await createEndpoint(world.own, { url: endpointUrl(world), ...fields });
  try {
    return await check(endpoint);
  } finally {
    await removeEndpoint(world.own, endpoint.id);
  }
}

export type DeliveredCharge = {
  charge: Charge;
  secret: string;
  hook: Hook;
  deliveries: Map<string, Delivery>;
};

export const PAID_EVENTS = ['charge.pix.created', 'charge.pix.emitted', 'charge.pix.paid'];

/** A charge with an URL and a secret of its own, from creation to payment. */
export function deliveredCharge(world: World): Promise<DeliveredCharge> {
  return world.once('delivered charge', async () => {
    const hook = world.receiver.hook();
    const secret = `whsec_${randomUUID()}`;
    const charge = await createCharge(world.own, {
      reference: 'delivered',
      webhook_url: hook.url,
      webhook_secret: secret,
    });
    await world.simulator.pay(charge.id);
    return { charge, secret, hook, deliveries: await hook.expectEvents(PAID_EVENTS) };
  });
}

/** A payout with an URL of its own, until it has settled. */
export function deliveredPayout(
  world: World,
): Promise<{ payout: Payout; secret: string; hook: Hook; deliveries: Map<string, Delivery> }> {
  return world.once('delivered payout', async () => {
    const hook = world.receiver.hook();
    const secret = `whsec_${randomUUID()}`;
    const fields = { webhook_url: hook.url, webhook_secret: secret, reference: 'delivered' };
    const created = await createPayout(world.own, fields);
    const payout = await untilPayout(world.own, created.id, 'completed');
    const events = ['payment.pix.created', 'payment.pix.processing'];
    return { payout, secret, hook, deliveries: await hook.expectEvents(events) };
  });
}

export function deliveryOf(deliveries: ReadonlyMap<string, Delivery>, event: string): Delivery {
  const delivery = deliveries.get(event);
  if (delivery === undefined) throw new ExpectationError('the deliveries', event, 'not there');
  return delivery;
}
