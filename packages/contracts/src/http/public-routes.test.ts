import { describe, expect, test } from 'vitest';

import { isPublicErrorCode } from './error-body.ts';
import { PUBLIC_ROUTES, type PublicRoute } from './public-routes.ts';
import { Scope } from './scopes.ts';

const routes: [string, PublicRoute][] = Object.entries(PUBLIC_ROUTES);

test('no two routes share method and path', () => {
  const places = routes.map(([, { method, path }]) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

test('the routes are those of the specification', () => {
  expect(
    routes.map(([, { method, path, scope, status }]) => [method, path, scope, status]),
  ).toEqual([
    ['POST', '/v1/charges', 'charge:write', 201],
    ['GET', '/v1/charges/:id', 'charge:read', 200],
    ['GET', '/v1/charges', 'charge:read', 200],
    ['POST', '/v1/payouts', 'payout:write', 201],
    ['GET', '/v1/payouts/:id', 'payout:read', 200],
    ['GET', '/v1/payouts', 'payout:read', 200],
    ['GET', '/v1/balance', 'balance:read', 200],
    ['GET', '/v1/account', 'account:read', 200],
    ['GET', '/v1/webhooks', 'webhook:read', 200],
    ['POST', '/v1/webhooks', 'webhook:write', 201],
    ['PATCH', '/v1/webhooks/:id', 'webhook:write', 200],
    ['DELETE', '/v1/webhooks/:id', 'webhook:write', 204],
    ['GET', '/v1/webhooks/events', null, 200],
  ]);
});

test('the catalogue of events alone asks for no scope', () => {
  const open = routes.filter(([, { scope }]) => scope === null);
  expect(open.map(([name]) => name)).toEqual(['listWebhookEvents']);
});

describe.each(routes)('%s', (_name, route) => {
  test('is a lower-case path under /v1 without trailing slash', () => {
    expect(route.path).toMatch(/^\/v1(\/[a-z]+|\/:id)+$/);
  });

  test('asks for a scope that exists, and lists codes that are public and not said twice', () => {
    if (route.scope !== null) expect(Scope.options).toContain(route.scope);
    for (const code of route.errors) expect(isPublicErrorCode(code)).toBe(true);
    expect(new Set(route.errors).size).toBe(route.errors.length);
  });

  test('a read has no body and creates nothing; a creation answers 201 and needs a key', () => {
    if (route.method === 'GET') {
      expect(route).toMatchObject({ body: null, creates: null, status: 200 });
      if (route.scope !== null) expect(route.scope).toMatch(/:read$/);
    }
    if (route.creates !== null) {
      expect(route).toMatchObject({ method: 'POST', status: 201 });
      expect(route.errors).toContain('IDEMPOTENCY_KEY_REQUIRED');
      expect(route.errors).toContain('VALIDATION_ERROR');
    }
  });
});
