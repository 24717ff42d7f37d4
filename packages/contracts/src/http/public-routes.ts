import type { z } from 'zod';

import { Account } from './account.ts';
import { Balance } from './balance.ts';
import { Charge } from './charge.ts';
import { CreateChargeBody } from './create-charge-body.ts';
import { CreatePayoutBody } from './create-payout-body.ts';
import type { PublicErrorCode } from './error-body.ts';
import { EventCatalogueEntry } from './event-catalogue-entry.ts';
import { ListChargesQuery } from './list-charges-query.ts';
import { listOf } from './list-envelope.ts';
import { ListPayoutsQuery } from './list-payouts-query.ts';
import { Payout } from './payout.ts';
import type { Scope } from './scopes.ts';
import { CreateWebhookBody, UpdateWebhookBody } from './webhook-body.ts';
import { Webhook } from './webhook.ts';

/** One route of `/v1`: what the gateway checks before it forwards, and what the owner promises. */
export type PublicRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: `/v1/${string}`;
  /** The service that answers; the gateway answers its own routes itself. */
  readonly owner: 'gateway' | 'charges' | 'payouts' | 'ledger' | 'webhook-dispatcher';
  /** Null: any valid key may call (decision 34). */
  readonly scope: Scope | null;
  /** The resource kind a creation makes; such a route requires `Idempotency-Key`. */
  readonly creates: 'charge' | 'payout' | null;
  readonly status: 200 | 201 | 204;
  readonly body: z.ZodType | null;
  /** Filters of a list; paging comes with every list. */
  readonly query: z.ZodType | null;
  readonly response: z.ZodType | null;
  /** Codes of this route beside those every route may answer. */
  readonly errors: readonly PublicErrorCode[];
};

const READ = { method: 'GET', creates: null, status: 200, body: null, query: null } as const;

/** The table of public routes: it drives the gateway's router, the owners and the tests. */
export const PUBLIC_ROUTES = {
  createCharge: {
    method: 'POST',
    path: '/v1/charges',
    owner: 'charges',
    scope: 'charge:write',
    creates: 'charge',
    status: 201,
    body: CreateChargeBody,
    query: null,
    response: Charge,
    errors: [
      'VALIDATION_ERROR',
      'INVALID_DOCUMENT',
      'METHOD_NOT_SUPPORTED',
      'IDEMPOTENCY_KEY_REQUIRED',
      'AMOUNT_BELOW_MINIMUM',
      'INVALID_WEBHOOK_URL',
      'ACCOUNT_INACTIVE',
      'ACQUIRER_REJECTED',
      'PAYLOAD_TOO_LARGE',
    ],
  },
  getCharge: {
    ...READ,
    path: '/v1/charges/:id',
    owner: 'charges',
    scope: 'charge:read',
    response: Charge,
    errors: ['CHARGE_NOT_FOUND'],
  },
  listCharges: {
    ...READ,
    path: '/v1/charges',
    owner: 'charges',
    scope: 'charge:read',
    query: ListChargesQuery,
    response: listOf(Charge),
    errors: ['VALIDATION_ERROR'],
  },
  createPayout: {
    method: 'POST',
    path: '/v1/payouts',
    owner: 'payouts',
    scope: 'payout:write',
    creates: 'payout',
    status: 201,
    body: CreatePayoutBody,
    query: null,
    response: Payout,
    errors: [
      'VALIDATION_ERROR',
      'METHOD_NOT_SUPPORTED',
      'IDEMPOTENCY_KEY_REQUIRED',
      'AMOUNT_BELOW_MINIMUM',
      'INVALID_WEBHOOK_URL',
      'PAYOUTS_DISABLED',
      'INSUFFICIENT_BALANCE',
      'PAYLOAD_TOO_LARGE',
    ],
  },
  getPayout: {
    ...READ,
    path: '/v1/payouts/:id',
    owner: 'payouts',
    scope: 'payout:read',
    response: Payout,
    errors: ['PAYOUT_NOT_FOUND'],
  },
  listPayouts: {
    ...READ,
    path: '/v1/payouts',
    owner: 'payouts',
    scope: 'payout:read',
    query: ListPayoutsQuery,
    response: listOf(Payout),
    errors: ['VALIDATION_ERROR'],
  },
  getBalance: {
    ...READ,
    path: '/v1/balance',
    owner: 'ledger',
    scope: 'balance:read',
    response: Balance,
    errors: [],
  },
  getAccount: {
    ...READ,
    path: '/v1/account',
    owner: 'gateway',
    scope: 'account:read',
    response: Account,
    errors: [],
  },
  listWebhooks: {
    ...READ,
    path: '/v1/webhooks',
    owner: 'webhook-dispatcher',
    scope: 'webhook:read',
    response: listOf(Webhook),
    errors: [],
  },
  createWebhook: {
    method: 'POST',
    path: '/v1/webhooks',
    owner: 'webhook-dispatcher',
    scope: 'webhook:write',
    creates: null,
    status: 201,
    body: CreateWebhookBody,
    query: null,
    response: Webhook,
    errors: [
      'VALIDATION_ERROR',
      'INVALID_WEBHOOK_URL',
      'INVALID_WEBHOOK_EVENT',
      'PAYLOAD_TOO_LARGE',
    ],
  },
  updateWebhook: {
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    owner: 'webhook-dispatcher',
    scope: 'webhook:write',
    creates: null,
    status: 200,
    body: UpdateWebhookBody,
    query: null,
    response: Webhook,
    errors: [
      'VALIDATION_ERROR',
      'INVALID_WEBHOOK_URL',
      'INVALID_WEBHOOK_EVENT',
      'WEBHOOK_NOT_FOUND',
      'PAYLOAD_TOO_LARGE',
    ],
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    owner: 'webhook-dispatcher',
    scope: 'webhook:write',
    creates: null,
    status: 204,
    body: null,
    query: null,
    response: null,
    errors: ['WEBHOOK_NOT_FOUND'],
  },
  listWebhookEvents: {
    ...READ,
    path: '/v1/webhooks/events',
    owner: 'webhook-dispatcher',
    scope: null,
    response: listOf(EventCatalogueEntry),
    errors: [],
  },
} as const satisfies Record<string, PublicRoute>;
