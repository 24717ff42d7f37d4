import { type ObservedCase, section, it, delivered } from '../suite/case.ts';
import { equal, holds } from '../client/expectations.ts';
import { idsOf, SCOPES } from '../world/admin.ts';
import { deliveredCharge } from '../world/fixtures.ts';
import {
  aChargeBody,
  aPayoutBody,
  bodyWith,
  type Merchant,
  postCharge,
} from '../world/merchant.ts';
import { refused, type Refusal } from '../world/refusals.ts';
import { until } from '../world/until.ts';
import type { World } from '../world/world.ts';

const UNAUTHORIZED: Refusal = { status: 401, code: 'UNAUTHORIZED' };
const UNKNOWN_ID = '6f1ed0a1-3c53-4d7e-9a1b-0f6f0c1d2e3f';
const EXPIRES_AFTER_MS = 1_500;

/** What each scope allows: a call that is not refused for want of it. */
const ALLOWED: Readonly<Record<(typeof SCOPES)[number], readonly string[]>> = {
  'charge:read': ['GET /v1/charges', `GET /v1/charges/${UNKNOWN_ID}`],
  'charge:write': ['POST /v1/charges'],
  'payout:read': ['GET /v1/payouts', `GET /v1/payouts/${UNKNOWN_ID}`],
  'payout:write': ['POST /v1/payouts'],
  'balance:read': ['GET /v1/balance'],
  'account:read': ['GET /v1/account'],
  'webhook:read': ['GET /v1/webhooks'],
  'webhook:write': [
    'POST /v1/webhooks',
    `PATCH /v1/webhooks/${UNKNOWN_ID}`,
    `DELETE /v1/webhooks/${UNKNOWN_ID}`,
  ],
};
const EVERY_ROUTE = Object.values(ALLOWED).flat();

function scopeCases(): ObservedCase[] {
  return SCOPES.flatMap((scope) => {
    const routes = ALLOWED[scope];
    const id = scope.replace(':', '-');
    return [
      it.admin(`scope.${id}`, `\`${scope}\` allows ${routes.join(', ')}`, async (w) => {
        const key = await keyWith(w, scope);
        for (const route of routes) {
          const { status, text } = await call(key, route);
          holds(status !== 401 && status !== 403 && status < 500, route, `${status} ${text}`);
        }
      }),
      it.admin(`scope.${id}-alone`, `\`${scope}\` allows nothing else`, async (w) => {
        const key = await keyWith(w, scope);
        for (const route of EVERY_ROUTE.filter((one) => !routes.includes(one))) {
          refused(await call(key, route), { status: 403, code: 'INSUFFICIENT_SCOPE' });
        }
      }),
    ];
  });
}

function keyWith(w: World, scope: string): Promise<Merchant> {
  return w.once(`key with ${scope} alone`, () => w.admin.createKey(w.own, { scopes: [scope] }));
}

function call(merchant: Merchant, route: string) {
  return merchant.call(route, route.startsWith('P') ? { body: {} } : {});
}

export const AUTHENTICATION_CASES = section('authentication', [
  it('header', 'Single static key per call in header `x-api-key`', async (w) => {
    bodyWith(await w.own.call('GET /v1/account'), 200);
  }),
  it('no-oauth', 'No OAuth: the key as a bearer token is no key', async (w) => {
    const headers = { authorization: `Bearer ${w.own.key}` };
    refused(await w.own.call('GET /v1/account', { key: null, headers }), UNAUTHORIZED);
  }),
  it('not-in-query', 'the key in the address is no key', async (w) => {
    const route = `GET /v1/account?x-api-key=${w.own.key}&api_key=${w.own.key}`;
    refused(await w.own.call(route, { key: null }), UNAUTHORIZED);
  }),
  it('no-token-route', 'no short-lived token, no refresh', async (w) => {
    for (const path of ['/v1/oauth/token', '/v1/token', '/v1/refresh']) {
      refused(await w.own.call(`POST ${path}`, { body: {} }), { status: 404 });
    }
  }),
  it('missing', 'A missing key: `401` `UNAUTHORIZED`', async (w) => {
    refused(await w.own.call('GET /v1/account', { key: null }), UNAUTHORIZED);
  }),
  it('unknown', 'a key that does not exist: `401` `UNAUTHORIZED`', async (w) => {
    const unknown = w.own.key.replace(/.{4}$/, (end) => (end === '0000' ? '1111' : '0000'));
    refused(await w.own.call('GET /v1/account', { key: unknown }), UNAUTHORIZED);
    refused(await w.own.call('GET /v1/account', { key: 'nonsense' }), UNAUTHORIZED);
  }),
  it('blank', 'an empty key: `401` `UNAUTHORIZED`', async (w) => {
    refused(await w.own.call('GET /v1/account', { key: '' }), UNAUTHORIZED);
  }),
  it('repeated-header', 'a single key: two headers are none', async (w) => {
    const headers = { 'x-api-key': [w.own.key, w.own.key] };
    refused(await w.own.call('GET /v1/account', { key: null, headers }), UNAUTHORIZED);
  }),
  it.admin('revoked', 'A revoked key: `401` `UNAUTHORIZED`', async (w) => {
    const key = await w.admin.createKey(w.own);
    await w.admin.call(`DELETE /admin/keys/${idsOf(key).keyId}`, { status: 204 });
    refused(await key.call('GET /v1/account'), UNAUTHORIZED);
  }),
  it.admin('expired', 'An expired key: `401` `UNAUTHORIZED`', async (w) => {
    const expires_at = new Date(Date.now() + EXPIRES_AFTER_MS).toISOString();
    const key = await w.admin.createKey(w.own, { expires_at });
    await until(async () => {
      refused(await key.call('GET /v1/account'), UNAUTHORIZED);
    });
  }),
  it.admin('deactivated', 'a key of a deactivated application: `401` `UNAUTHORIZED`', async (w) => {
    const merchant = await w.admin.createAccount();
    const path = `/admin/applications/${idsOf(merchant).applicationId}`;
    await w.admin.call(`PATCH ${path}`, { body: { active: false } });
    refused(await merchant.call('GET /v1/account'), UNAUTHORIZED);
  }),
  it.admin('vague', 'The message is deliberately vague: the same for each of them', async (w) => {
    const key = await w.admin.createKey(w.own);
    await w.admin.call(`DELETE /admin/keys/${idsOf(key).keyId}`, { status: 204 });
    const revoked = await key.call('GET /v1/account');
    const unknown = await key.call('GET /v1/account', { key: 'nonsense' });
    const missing = await key.call('GET /v1/account', { key: null });
    equal([revoked.text, unknown.text], [missing.text, missing.text], 'the bodies');
  }),
  it.admin('next-request', 'Revocation takes effect from the next request', async (w) => {
    const key = await w.admin.createKey(w.own);
    bodyWith(await key.call('GET /v1/account'), 200);
    await w.admin.call(`DELETE /admin/keys/${idsOf(key).keyId}`, { status: 204 });
    refused(await key.call('GET /v1/account'), UNAUTHORIZED);
  }),
  it.admin('scopes', 'Each key carries scopes', async (w) => {
    const key = await keyWith(w, 'account:read');
    bodyWith(await key.call('GET /v1/account'), 200);
  }),
  it.admin('insufficient', 'lacking scope: `403` `INSUFFICIENT_SCOPE`', async (w) => {
    const answer = await (await keyWith(w, 'account:read')).call('GET /v1/balance');
    refused(answer, { status: 403, code: 'INSUFFICIENT_SCOPE' });
  }),
  it.admin('required-scopes', '`details` lists the required scopes', async (w) => {
    const answer = await (await keyWith(w, 'account:read')).call('GET /v1/balance');
    refused(answer, { status: 403, details: ['balance:read'] });
  }),
  it.admin('scope-before-body', 'a key without the scope learns nothing of its body', async (w) => {
    const key = await keyWith(w, 'account:read');
    refused(await postCharge(key, aChargeBody({ amount: 1 })), { status: 403 });
    refused(await key.call('POST /v1/payouts', { body: aPayoutBody() }), { status: 403 });
  }),
  ...scopeCases(),
  it.admin('catalog-no-scope', '`GET /v1/webhooks/events` needs no scope', async (w) => {
    const key = await keyWith(w, 'account:read');
    bodyWith(await key.call('GET /v1/webhooks/events'), 200);
  }),
  it('catalog-key', '`GET /v1/webhooks/events` needs a key like every call', async (w) => {
    refused(await w.own.call('GET /v1/webhooks/events', { key: null }), UNAUTHORIZED);
  }),
  delivered('deliveries', 'Webhook deliveries are authenticated by signature', async (w) => {
    for (const [event, { headers }] of (await deliveredCharge(w)).deliveries) {
      holds('x-webhook-signature' in headers, `a signature of ${event}`, Object.keys(headers));
    }
  }),
]);
