import type { z } from 'zod';

import type { PublicErrorCode } from '../http/error-body.ts';

/** One route of `/admin`: what an operator, the dashboard or the CLI may ask. */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: `/admin/${string}`;
  readonly tag: 'Operators' | 'Tenants' | 'Money' | 'Deliveries' | 'Operations';
  readonly summary: string;
  readonly status: 200 | 201 | 202 | 204;
  readonly body: z.ZodType | null;
  /** Whether the call means something without a body. */
  readonly bodyOptional?: true;
  readonly query: z.ZodType | null;
  /** Takes `limit` and `starting_after`. */
  readonly paged: boolean;
  /** Takes an `Idempotency-Key`, with the account as namespace. */
  readonly repeatable: boolean;
  /** Refused without one. */
  readonly keyRequired?: true;
  readonly response: z.ZodType | null;
  /** Codes of this route beside those that every route may answer. */
  readonly errors: readonly PublicErrorCode[];
};

export const ROUTE = {
  status: 200,
  body: null,
  query: null,
  paged: false,
  repeatable: false,
  errors: [],
} as const;
export const READ = { ...ROUTE, method: 'GET' } as const;
export const LIST = { ...READ, paged: true } as const;
export const NEW = { ...ROUTE, method: 'POST', status: 201 } as const;
export const REMOVE = { ...ROUTE, method: 'DELETE', status: 204, response: null } as const;
