import { randomUUID } from 'node:crypto';

import { equal, holds, shaped } from '../client/expectations.ts';
import { Charge, Instant, Uuid } from '../client/schemas.ts';
import { delivered, it, section, staged, unobservable } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { announced, checkoutCharge, openedDispute } from '../world/charge-lives.ts';
import { includes } from '../world/collection.ts';
import {
  bareCharge,
  barePayout,
  catalog,
  deliveredCharge,
  deliveredPayout,
  fullCharge,
  manualMerchant,
  requestPayout,
} from '../world/fixtures.ts';
import { isJson, refused } from '../world/refusals.ts';
import { fundedMerchant, PAYING_ACCOUNT } from '../world/world.ts';

const CLOCK_TOLERANCE_MS = 120_000;
const READS = ['/charges', '/payouts', '/balance', '/account', '/webhooks', '/webhooks/events'];

export const SERVICE_CASES = section('service', [
  it('charges', 'lets a merchant create Pix charges (money in) and read them', async (w) => {
    const { charge } = await fullCharge(w);
    equal((await w.own.charges.read(charge.id)).id, charge.id, 'the charge that was created');
  }),
  it.funds('payouts', 'create Pix payouts (money out) and read them', async (w) => {
    const { id } = await barePayout(w);
    equal((await w.own.payouts.read(id)).id, id, 'the payout that was created');
  }),
  it.funds('currency-payout', 'Money: `currency` is `BRL` (payout)', async (w) =>
    equal((await barePayout(w)).currency, 'BRL', 'currency'),
  ),
  it.funds('identifiers-payout', 'Identifiers: UUID (payout)', async (w) => {
    shaped(Uuid, (await barePayout(w)).id, 'id');
  }),
  staged('from-the-balance', 'payouts are paid from the account balance', async (w) => {
    const merchant = await w.admin.createAccount(PAYING_ACCOUNT);
    refused(await merchant.payouts.post(), 'INSUFFICIENT_BALANCE');
  }),
  it('balance-and-account', 'read the account balance and the account record', async (w) => {
    await w.own.balance();
    await w.own.account();
  }),
  it('webhooks', 'manage registered webhook endpoints', async (w) => {
    const { id, url } = await w.own.endpoints.create();
    await w.own.call(`PATCH /v1/webhooks/${id}`, { body: { description: 'changed' } });
    equal((await w.own.endpoints.find(url)).description, 'changed', 'the description');
    await w.own.endpoints.remove(id);
    holds(!(await w.own.endpoints.list()).some((one) => one.id === id), 'it is gone', id);
  }),
  delivered('events-of-charges', 'receive webhook deliveries about charges', async (w) =>
    holds((await deliveredCharge(w)).deliveries.size > 0, 'deliveries arrived', 0),
  ),
  delivered.funds('events-of-payouts', 'receive webhook deliveries about payouts', async (w) =>
    holds((await deliveredPayout(w)).deliveries.size > 0, 'deliveries arrived', 0),
  ),
  staged.receiver(
    'events-of-disputes',
    'receive webhook deliveries about Pix disputes',
    async (w) => {
      const { envelope } = await announced(w, await openedDispute(w), 'dispute.pix.opened');
      equal(envelope.resource, 'dispute', 'resource');
    },
  ),

  it('path-prefix', 'Path prefix: `/v1`', async (w) => {
    for (const path of READS) {
      refused(await w.own.call(`GET ${path}`), 404);
    }
  }),
  it('response-json', 'response format: JSON, `Content-Type: application/json`', async (w) => {
    for (const path of READS) {
      const answer = await w.own.call(`GET /v1${path}`);
      bodyWith(answer, 200);
      isJson(answer);
      holds(answer.json !== undefined, 'the body is JSON', answer.text);
    }
  }),
  it('error-json', 'errors are JSON with `Content-Type: application/json` too', async (w) =>
    isJson(await w.own.call('GET /v1/balance', { key: null })),
  ),
  it('body-json', 'body format: JSON; anything else is an invalid payload', async (w) => {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await w.own.call('POST /v1/charges', { headers, rawBody: 'amount=1234' });
    refused(answer, 'VALIDATION_ERROR');
  }),
  it('money-cents', 'Money: integers in cents (minor units)', async (w) => {
    const { charge, sent } = await fullCharge(w);
    equal(charge.amount, sent.amount, 'amount');
    const { available, pending, total } = await w.own.balance();
    holds([available, pending, total].every(Number.isInteger), 'integers', available);
  }),
  it('money-no-fraction', 'Money: an amount that is no integer is refused', async (w) => {
    refused(await w.own.charges.post({ amount: 1234.5 }), 'VALIDATION_ERROR', ['amount']);
  }),
  it('currency-charge', 'Money: `currency` is `BRL` (charge)', async (w) =>
    equal((await bareCharge(w)).currency, 'BRL', 'currency'),
  ),
  it('currency-balance', 'Money: `currency` is `BRL` (balance)', async (w) =>
    equal((await w.own.balance()).currency, 'BRL', 'currency'),
  ),
  it('timestamps', 'Timestamps: ISO 8601 strings in UTC', async (w) => {
    const answer = await w.own.charges.post();
    const charge = shaped(Charge, bodyWith(answer, 201), 'the charge');
    shaped(Instant, charge.created_at, 'created_at');
    const now = Date.parse(answer.headers.get('date')?.[0] ?? new Date().toUTCString());
    const distanceMs = Math.abs(Date.parse(charge.created_at) - now);
    holds(distanceMs < CLOCK_TOLERANCE_MS, 'created_at is the present, in UTC', charge.created_at);
  }),
  it('identifiers-charge', 'Identifiers: UUID (charge)', async (w) => {
    shaped(Uuid, (await bareCharge(w)).id, 'id');
  }),
  it('identifiers-account', 'Identifiers: UUID (account)', async (w) => {
    shaped(Uuid, (await w.own.account()).id, 'id');
  }),
  it('object-field', 'Individual resources carry an `object` naming their kind', async (w) => {
    equal((await bareCharge(w)).object, 'charge', 'object of a charge');
    equal((await w.own.balance()).object, 'balance', 'object of the balance');
    equal((await w.own.account()).object, 'account', 'object of the account');
  }),
  it('list-charges', 'Lists: `{object: list, data, has_more}` (charges)', async (w) => {
    await w.own.charges.list();
  }),
  it('list-payouts', 'Lists: `{object: list, data, has_more}` (payouts)', async (w) => {
    await w.own.payouts.list();
  }),
  it('list-webhooks', 'Lists: `{object: list, data}` (webhook endpoints)', async (w) => {
    await w.own.endpoints.list();
  }),
  it('list-events', 'Lists: `{object: list, data}` (event catalog)', async (w) => {
    await catalog(w);
  }),
  it('errors', 'Errors: `{code, message, details}`', async (w) => {
    refused(await w.own.call(`GET /v1/charges/${randomUUID()}`), 404);
  }),

  ...['boleto', 'card'].map((method) =>
    it(
      `scope-${method}`,
      `Only \`pix\` is accepted at creation; \`${method}\` yields \`METHOD_NOT_SUPPORTED\``,
      async (w) => {
        refused(await w.own.charges.post({ method }), 'METHOD_NOT_SUPPORTED');
        refused(await w.own.payouts.post({ method }), 'METHOD_NOT_SUPPORTED');
      },
    ),
  ),
  unobservable(
    'no-sandbox',
    'There is no separate sandbox; each installation has its own address',
    'a client knows one address only; the run itself takes it as an argument',
  ),
  it.admin('own-company', 'a key is valid only for the company that made it', async (w) => {
    const other = await w.admin.createAccount();
    equal((await other.account()).id, other.ids.accountId, 'the account of its key');
    const { id } = await bareCharge(w);
    refused(await other.call(`GET /v1/charges/${id}`), 404);
  }),
  unobservable(
    'stored-before-the-acquirer',
    'A charge is stored before the acquirer is called',
    'the moment of storing is inside; charge-status.refused-exists sees its consequence',
  ),
  it.admin(
    'checkout-invisible',
    'reading a charge of the platform checkout gives `CHARGE_NOT_FOUND`',
    async (w) => {
      const { merchant, id } = await checkoutCharge(w);
      const answer = await merchant.call(`GET /v1/charges/${id}`);
      refused(answer, 'CHARGE_NOT_FOUND');
      const foreign = await merchant.call(`GET /v1/charges/${(await bareCharge(w)).id}`);
      equal(answer.text, foreign.text, 'the body, like that of an id of another account');
    },
  ),
  it.admin('checkout-unlisted', 'The charge list has none of the checkout', async (w) => {
    const { merchant } = await checkoutCharge(w);
    equal((await merchant.charges.list()).data, [], 'charges of this merchant');
  }),
  it('list-only-api', 'The charge list has only charges created through the API', async (w) => {
    await bareCharge(w);
    for (const { id } of (await w.own.charges.list('limit=5')).data) await w.own.charges.read(id);
  }),
  staged('dashboard-payouts', 'The payout list also has payouts of the dashboard', async (w) => {
    const merchant = await manualMerchant(w);
    const id = await requestPayout(w, merchant, { amount: 501 });
    includes((await merchant.payouts.list('limit=100')).data, id);
  }),
  staged('dashboard-balance', 'dashboard payouts consume the same balance', async (w) => {
    const merchant = await fundedMerchant(w, 5_000, { onboarding_status: 'approved' });
    await requestPayout(w, merchant, { amount: 700 });
    equal((await merchant.balance()).available, 4_300, 'available');
  }),
  it('outside-the-api', 'Keys, applications, approval, re-sending: outside this API', async (w) => {
    const { id } = await bareCharge(w);
    const routes = ['GET /v1/keys', 'GET /v1/applications', `POST /v1/payouts/${id}/approve`];
    for (const route of routes) refused(await w.own.call(route), 404);
    refused(await w.own.call(`POST /v1/deliveries/${id}/resend`), 404);
  }),
]);

export const APPLICATION_CASES = section('application', [
  it.admin('groups-keys', 'An application groups several keys', async (w) => {
    const second = await w.admin.createKey(w.own);
    const endpoint = await w.own.endpoints.create();
    await second.endpoints.find(endpoint.url);
    await second.endpoints.remove(endpoint.id);
  }),
  it.admin('rotation', 'keys can be rotated without affecting other integrations', async (w) => {
    const first = await w.admin.createAccount();
    const sister = await w.admin.createApplication(first.ids.accountId);
    const second = await w.admin.createKey(first);
    await w.admin.call(`DELETE /admin/keys/${first.ids.keyId}`, { status: 204 });
    refused(await first.call('GET /v1/account'), 401);
    await second.account();
    await sister.account();
  }),
  it.admin('scopes', 'A key carries a list of scopes', async (w) => {
    const key = await w.admin.createKey(w.own, { scopes: ['balance:read', 'account:read'] });
    await key.balance();
    await key.account();
    refused(await key.call('GET /v1/charges'), 'INSUFFICIENT_SCOPE');
  }),
  it.admin('expiry', 'A key may have an expiry date', async (w) => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    await (await w.admin.createKey(w.own, { expires_at })).account();
  }),
  it.admin('returned-once', 'The full key is returned once, when created', async (w) => {
    const made = await w.admin.createKey(w.own);
    const path = `/admin/applications/${made.ids.applicationId}/keys`;
    const keys = JSON.stringify(await w.admin.call(`GET ${path}`));
    holds(!keys.includes(made.key), 'the list of keys does not have the key', path);
  }),
  it.admin('idempotency-per-application', 'Idempotency keys: unique per application', async (w) => {
    const merchant = await w.admin.createAccount();
    const sister = await w.admin.createApplication(merchant.ids.accountId);
    const key = randomUUID();
    const one = await merchant.charges.create({}, key);
    const other = await sister.charges.create({}, key);
    holds(one.id !== other.id, 'two charges', [one.id, other.id]);
  }),
  unobservable('hash', "Only the key's hash is stored", 'what is stored is inside'),
  it('never-again', 'no endpoint returns the key again', async (w) => {
    for (const path of READS) {
      const { text, request } = await w.own.call(`GET /v1${path}`);
      holds(!text.includes(w.own.key), 'the answer does not have the key', request);
    }
  }),
]);
