import { describe, expect, test } from 'vitest';

import { isPublicErrorCode } from './error-body.ts';
import { PUBLIC_ROUTES, type PublicRoute } from './public-routes.ts';
import { Scope } from './scopes.ts';

const routes: [string, PublicRoute][] = Object.entries(PUBLIC_ROUTES);

test('no two routes share method and path', () => {
  const places = routes.map(([, { method, path }]) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

test('the routes of charges, balance and account are those of the specification', () => {
  expect(
    routes.map(([, { method, path, scope, status }]) => [method, path, scope, status]),
  ).toEqual(
    expect.arrayContaining([
      ['POST', '/v1/charges', 'charge:write', 201],
      ['GET', '/v1/charges/:id', 'charge:read', 200],
      ['GET', '/v1/balance', 'balance:read', 200],
      ['GET', '/v1/account', 'account:read', 200],
    ]),
  );
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
      expect(route.scope).toMatch(/:read$/);
    }
    if (route.creates !== null) {
      expect(route).toMatchObject({ method: 'POST', status: 201 });
      expect(route.errors).toContain('IDEMPOTENCY_KEY_REQUIRED');
      expect(route.errors).toContain('VALIDATION_ERROR');
    }
  });
});
