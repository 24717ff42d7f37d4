import type { Answer } from '../client/http-client.ts';
import type { SCOPES } from '../world/admin.ts';
import type { Merchant } from '../world/merchant.ts';

/** An id of nobody. */
const UNKNOWN_ID = '6f1ed0a1-3c53-4d7e-9a1b-0f6f0c1d2e3f';

type Scope = (typeof SCOPES)[number];

/** The table of routes, each with the scope that it asks for. */
export const ROUTES: readonly (readonly [string, Scope | null])[] = [
  ['POST /v1/charges', 'charge:write'],
  ['GET /v1/charges/{id}', 'charge:read'],
  ['GET /v1/charges', 'charge:read'],
  ['POST /v1/payouts', 'payout:write'],
  ['GET /v1/payouts/{id}', 'payout:read'],
  ['GET /v1/payouts', 'payout:read'],
  ['GET /v1/balance', 'balance:read'],
  ['GET /v1/account', 'account:read'],
  ['GET /v1/webhooks', 'webhook:read'],
  ['POST /v1/webhooks', 'webhook:write'],
  ['PATCH /v1/webhooks/{id}', 'webhook:write'],
  ['DELETE /v1/webhooks/{id}', 'webhook:write'],
  ['GET /v1/webhooks/events', null],
];

/** The route for an id of nobody. */
export function withUnknownId(route: string): string {
  return route.replace('{id}', UNKNOWN_ID);
}

/** With an empty body where one may be sent: nothing is created or changed. */
export function callEmpty(
  merchant: Merchant,
  route: string,
  options: { key?: null } = {},
): Promise<Answer> {
  return merchant.call(withUnknownId(route), {
    ...options,
    ...(route.startsWith('P') ? { body: {} } : {}),
  });
}
