import { z } from 'zod';

import { equal, holds, shaped } from '../client/expectations.ts';
import { Account, type CatalogEntry, type Endpoint, Instant, Uuid } from '../client/schemas.ts';
import { it, type ObservedCase, section, staged } from '../suite/case.ts';
import { ENDPOINT_EVENTS } from '../world/endpoints.ts';
import { catalog, failedPayout, withEndpoint } from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import { aPaidCharge, type World } from '../world/world.ts';
import { plain, rows } from './field-rows.ts';

const BALANCE_FIELDS = rows(it, async (w) => ({ resource: await w.own.balance() }), {
  object: ['`balance`', 'balance'],
  currency: ['`BRL`', 'BRL'],
  pending: ['integer', z.int()],
  total: [
    '`available` + `pending`',
    (value, { available, pending }) => equal(value, available + pending, 'total'),
  ],
});

export const BALANCE_CASES = section('balance', [
  ...BALANCE_FIELDS,
  it.simulator.admin('available', '`available`: after deducting payouts in progress', async (w) => {
    const { before, during, created } = await failedPayout(w);
    equal(during.available, before.available - created.amount - created.fee, 'available');
  }),
  staged('pending-received', '`pending`: received but not yet released', async (w) => {
    const merchant = await w.admin.createAccount({ release_delay_seconds: 3_600 });
    await aPaidCharge(w, merchant);
    const { available, pending } = await merchant.balance();
    equal([available, pending], [0, 1_234], 'available and pending');
  }),
]);

const Filled = z.string().min(1);

const ACCOUNT_FIELDS = rows(it, async (w) => ({ resource: await w.own.account() }), {
  id: ['uuid', Uuid],
  object: ['`account`', 'account'],
  name: ['string', Filled],
  legal_name: ['string', Filled],
  document: [
    'CPF or CNPJ',
    (value) => holds(/^(\d{11}|[0-9A-Z]{12}\d{2})$/.test(plain(value)), 'one', value),
  ],
  document_type: ['kind of document', z.string()],
  phone: ['string', z.string()],
  status: ['`active` or `inactive`', z.enum(['active', 'inactive'])],
  onboarding_status: ['registration stage', Filled],
  auto_payout_enabled: ['boolean', z.boolean()],
  created_at: ['ISO 8601', Instant],
});

export const ACCOUNT_CASES = section('account', [
  ...ACCOUNT_FIELDS,
  it.admin('inactive', 'an inactive account does not process charges', async (w) => {
    const merchant = await w.admin.createAccount({ status: 'inactive' });
    equal((await merchant.account()).status, 'inactive', 'status');
    refused(await merchant.charges.post(), 422);
    equal((await merchant.charges.list()).data, [], 'charges');
  }),
  it.admin('onboarding', 'accounts without completed onboarding have restrictions', async (w) => {
    const settings = { onboarding_status: 'pending', auto_payout_enabled: true };
    const merchant = await w.admin.createAccount(settings);
    refused(await merchant.payouts.post(), 'PAYOUTS_DISABLED');
  }),
  it.admin(
    'auto-payout',
    '`auto_payout_enabled`: the initial value is set by the platform',
    async (w) => {
      const merchant = await w.admin.createAccount();
      const path = `/admin/accounts/${merchant.ids.accountId}`;
      const kept = shaped(Account, await w.admin.call(`GET ${path}`), 'the account');
      const shown = await merchant.account();
      equal(shown.auto_payout_enabled, kept.auto_payout_enabled, 'as the platform set it');
    },
  ),
]);

const SENT = { description: 'Pedidos', secret: 'whsec_of_a_case' };

/** As it was while it was registered. */
async function registered(w: World): Promise<{ resource: Endpoint }> {
  return { resource: await withEndpoint(w, SENT, (endpoint) => endpoint) };
}

const ENDPOINT_FIELDS = rows(it, registered, {
  id: ['string', Filled],
  object: ['`webhook`', 'webhook'],
  url: ['string', z.url()],
  description: ['string', SENT.description],
  events: [
    'array of event names',
    (_, { events }) => equal(events.toSorted(), ENDPOINT_EVENTS.toSorted(), 'events'),
  ],
  active: ['boolean', true],
  has_secret: ['tells that a secret exists', true],
  created_at: ['ISO 8601', Instant],
});

export const WEBHOOK_CASES = section('webhook', [
  ...ENDPOINT_FIELDS,
  it('no-secret', '`has_secret` is false without a secret', (w) =>
    withEndpoint(w, {}, (endpoint) => equal(endpoint.has_secret, false, 'has_secret')),
  ),
  it('secret-never-returned', 'the secret itself is never returned', (w) =>
    withEndpoint(w, SENT, async () => {
      const { text } = await w.own.call('GET /v1/webhooks');
      holds(!text.includes(SENT.secret), 'no secret in the list', 'GET /v1/webhooks');
    }),
  ),
]);

function entryRow(
  field: keyof CatalogEntry,
  note: string,
  holdsFor: (entry: CatalogEntry) => boolean,
): ObservedCase {
  return it(field, `\`${field}\`: ${note}`, async (w) => {
    for (const entry of await catalog(w)) {
      holds(holdsFor(entry), `${field} of ${entry.event}`, entry);
    }
  });
}

export const CATALOG_ENTRY_CASES = section('catalog-entry', [
  entryRow('event', 'full name `<resource>.<method>.<action>`', ({ event }) =>
    /^[a-z_]+\.[a-z_]+\.[a-z_]+$/.test(event),
  ),
  entryRow('resource', 'first part of the name', (one) => part(one.event, 0) === one.resource),
  entryRow('method', 'second part of the name', (one) => part(one.event, 1) === one.method),
  entryRow('action', 'third part of the name', (one) => part(one.event, 2) === one.action),
  entryRow('description', 'string', ({ description }) => description.trim() !== ''),
  entryRow('dispatched', 'boolean', ({ dispatched }) => typeof dispatched === 'boolean'),
  it('not-emitted', '`dispatched`: false while the platform does not emit it', async (w) => {
    const entry = (await catalog(w)).find(({ event }) => event === 'charge.pix.expired');
    equal(entry?.dispatched, false, 'dispatched of charge.pix.expired');
  }),
]);

function part(event: string, index: number): string | undefined {
  return event.split('.')[index];
}
