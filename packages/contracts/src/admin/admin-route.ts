import type { z } from 'zod';

import type { PublicErrorCode } from '../http/error-body.ts';
import { listOf } from '../http/list-envelope.ts';

/** One route of `/admin`: what an operator may ask. */
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
  /** Codes of this route beside those that follow from the rest of it. */
  readonly errors: readonly PublicErrorCode[];
};

export type AdminRoutes = Readonly<Record<string, AdminRoute>>;

/** A route of a group that has one tag. */
type Route = Omit<AdminRoute, 'tag'>;
type Path = AdminRoute['path'];
/** What a row of the table says beside method, path and summary. */
type Details = Partial<Omit<Route, 'method' | 'path' | 'summary' | 'paged' | 'response'>>;
type Answering = Details & { response: z.ZodType };
type Listing = { query: z.ZodType; items: z.ZodType } & Pick<Details, 'errors'>;

const PLAIN = {
  status: 200,
  body: null,
  query: null,
  paged: false,
  repeatable: false,
  errors: [],
} as const;

/** Puts a group of routes under its tag. */
export function tagged(
  tag: AdminRoute['tag'],
  routes: Readonly<Record<string, Route>>,
): AdminRoutes {
  return Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [name, { ...route, tag }]),
  );
}

export function read(path: Path, summary: string, details: Answering): Route {
  return { ...PLAIN, method: 'GET', path, summary, ...details };
}

export function list(path: Path, summary: string, { items, ...details }: Listing): Route {
  return { ...read(path, summary, { response: listOf(items), ...details }), paged: true };
}

export function create(path: Path, summary: string, details: Answering): Route {
  return { ...PLAIN, method: 'POST', path, summary, status: 201, ...details };
}

export function act(path: Path, summary: string, details: Answering): Route {
  return { ...PLAIN, method: 'POST', path, summary, ...details };
}

export function change(path: Path, summary: string, details: Answering): Route {
  return { ...PLAIN, method: 'PATCH', path, summary, ...details };
}

export function remove(path: Path, summary: string, details: Details): Route {
  return { ...PLAIN, method: 'DELETE', path, summary, status: 204, response: null, ...details };
}
