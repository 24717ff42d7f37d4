import { equal, holds } from '../client/expectations.ts';
import { delivered, it, type ObservedCase, section } from '../suite/case.ts';
import { SCOPES } from '../world/admin.ts';
import { bodyWith } from '../world/api-client.ts';
import { deliveredCharge, keyWith } from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import { until } from '../world/until.ts';
import { callEmpty, ROUTES, withUnknownId } from './routes.ts';

const EXPIRES_AFTER_MS = 1_500;

function scopeCases(): ObservedCase[] {
  return SCOPES.flatMap((scope) => {
    const [allowed, others] = routesOf(scope);
    const id = scope.replace(':', '-');
    const shown = allowed.map(withUnknownId).join(', ');
    return [
      it.admin(`scope.${id}`, `\`${scope}\` allows ${shown}`, async (w) => {
        const key = await keyWith(w, scope);
        for (const route of allowed) {
          const { status, text } = await callEmpty(key, route);
          holds(status !== 401 && status !== 403 && status < 500, route, `${status} ${text}`);
        }
      }),
      it.admin(`scope.${id}-alone`, `\`${scope}\` allows nothing else`, async (w) => {
        const key = await keyWith(w, scope);
        for (const route of others) refused(await callEmpty(key, route), 'INSUFFICIENT_SCOPE');
      }),
    ];
  });
}

/** What a key with this scope alone may call, collections before their items, and what it may not. */
function routesOf(scope: string): [string[], string[]] {
  const scoped = ROUTES.filter(([, needed]) => needed !== null);
  const allowed = scoped.filter(([, needed]) => needed === scope).map(([route]) => route);
  const others = scoped.filter(([, needed]) => needed !== scope).map(([route]) => route);
  return [allowed.toSorted((a, b) => Number(a.includes('{')) - Number(b.includes('{'))), others];
}

export const AUTHENTICATION_CASES = section('authentication', [
  it('header', 'Single static key per call in header `x-api-key`', async (w) => {
    bodyWith(await w.own.call('GET /v1/account'), 200);
  }),
  it('no-oauth', 'No OAuth: the key as a bearer token is no key', async (w) => {
    const headers = { authorization: `Bearer ${w.own.key}` };
    refused(await w.own.call('GET /v1/account', { key: null, headers }), 'UNAUTHORIZED');
  }),
  it('not-in-query', 'the key in the address is no key', async (w) => {
    const route = `GET /v1/account?x-api-key=${w.own.key}&api_key=${w.own.key}`;
    refused(await w.own.call(route, { key: null }), 'UNAUTHORIZED');
  }),
  it('no-token-route', 'no short-lived token, no refresh', async (w) => {
    for (const path of ['/v1/oauth/token', '/v1/token', '/v1/refresh']) {
      refused(await w.own.call(`POST ${path}`, { body: {} }), 404);
    }
  }),
  it('missing', 'A missing key: `401` `UNAUTHORIZED`', async (w) => {
    refused(await w.own.call('GET /v1/account', { key: null }), 'UNAUTHORIZED');
  }),
  it('unknown', 'a key that does not exist: `401` `UNAUTHORIZED`', async (w) => {
    const unknown = w.own.key.replace(/.{4}$/, (end) => (end === '0000' ? '1111' : '0000'));
    refused(await w.own.call('GET /v1/account', { key: unknown }), 'UNAUTHORIZED');
    refused(await w.own.call('GET /v1/account', { key: 'nonsense' }), 'UNAUTHORIZED');
  }),
  it('blank', 'an empty key: `401` `UNAUTHORIZED`', async (w) => {
    refused(await w.own.call('GET /v1/account', { key: '' }), 'UNAUTHORIZED');
  }),
  it('repeated-header', 'a single key: two headers are none', async (w) => {
    const headers = { 'x-api-key': [w.own.key, w.own.key] };
    refused(await w.own.call('GET /v1/account', { key: null, headers }), 'UNAUTHORIZED');
  }),
  it.admin('revoked', 'A revoked key: `401` `UNAUTHORIZED`', async (w) => {
    const key = await w.admin.createKey(w.own);
    await w.admin.call(`DELETE /admin/keys/${key.ids.keyId}`, { status: 204 });
    refused(await key.call('GET /v1/account'), 'UNAUTHORIZED');
  }),
  it.admin('expired', 'An expired key: `401` `UNAUTHORIZED`', async (w) => {
    const expires_at = new Date(Date.now() + EXPIRES_AFTER_MS).toISOString();
    const key = await w.admin.createKey(w.own, { expires_at });
    await until(async () => {
      refused(await key.call('GET /v1/account'), 'UNAUTHORIZED');
    });
  }),
  it.admin('deactivated', 'a key of a deactivated application: `401` `UNAUTHORIZED`', async (w) => {
    const merchant = await w.admin.createAccount();
    const path = `/admin/applications/${merchant.ids.applicationId}`;
    await w.admin.call(`PATCH ${path}`, { body: { active: false } });
    refused(await merchant.call('GET /v1/account'), 'UNAUTHORIZED');
  }),
  it.admin('vague', 'The message is deliberately vague: the same for each of them', async (w) => {
    const key = await w.admin.createKey(w.own);
    await w.admin.call(`DELETE /admin/keys/${key.ids.keyId}`, { status: 204 });
    const revoked = await key.call('GET /v1/account');
    const unknown = await key.call('GET /v1/account', { key: 'nonsense' });
    const missing = await key.call('GET /v1/account', { key: null });
    equal([revoked.text, unknown.text], [missing.text, missing.text], 'the bodies');
  }),
  it.admin('next-request', 'Revocation takes effect from the next request', async (w) => {
    const key = await w.admin.createKey(w.own);
    bodyWith(await key.call('GET /v1/account'), 200);
    await w.admin.call(`DELETE /admin/keys/${key.ids.keyId}`, { status: 204 });
    refused(await key.call('GET /v1/account'), 'UNAUTHORIZED');
  }),
  it.admin('scopes', 'Each key carries scopes', async (w) => {
    const key = await keyWith(w, 'account:read');
    bodyWith(await key.call('GET /v1/account'), 200);
  }),
  it.admin('insufficient', 'lacking scope: `403` `INSUFFICIENT_SCOPE`', async (w) => {
    refused(await (await keyWith(w, 'account:read')).call('GET /v1/balance'), 'INSUFFICIENT_SCOPE');
  }),
  it.admin('required-scopes', '`details` lists the required scopes', async (w) => {
    const answer = await (await keyWith(w, 'account:read')).call('GET /v1/balance');
    refused(answer, 403, ['balance:read']);
  }),
  it.admin('scope-before-body', 'a key without the scope learns nothing of its body', async (w) => {
    const key = await keyWith(w, 'account:read');
    refused(await key.charges.post({ amount: 1 }), 403);
    refused(await key.payouts.post({}, null), 403);
  }),
  ...scopeCases(),
  it.admin('catalog-no-scope', '`GET /v1/webhooks/events` needs no scope', async (w) => {
    const key = await keyWith(w, 'account:read');
    bodyWith(await key.call('GET /v1/webhooks/events'), 200);
  }),
  it('catalog-key', '`GET /v1/webhooks/events` needs a key like every call', async (w) => {
    refused(await w.own.call('GET /v1/webhooks/events', { key: null }), 'UNAUTHORIZED');
  }),
  delivered('deliveries', 'Webhook deliveries are authenticated by signature', async (w) => {
    for (const [event, { headers }] of (await deliveredCharge(w)).deliveries) {
      holds('x-webhook-signature' in headers, `a signature of ${event}`, Object.keys(headers));
    }
  }),
]);
