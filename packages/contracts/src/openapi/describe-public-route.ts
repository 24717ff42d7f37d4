import type { PublicErrorCode } from '../http/error-body.ts';
import type { PublicRoute } from '../http/public-routes.ts';

import type { DescribedError } from './build-errors.ts';
import type { DescribedRoute } from './build-operation.ts';
import type { DocumentSchemas } from './build-schemas.ts';
import type { Header, Parameter } from './document.ts';
import { ChargeErrorSchema, ErrorSchema } from './error-schemas.ts';
import type { RouteText } from './public-route-texts.ts';
import { CHARGE } from './resource-examples.ts';

type Details = Partial<Record<PublicErrorCode, readonly string[]>>;

/** What stands in `details` unless a route says otherwise (decision 10). */
const DETAILS: Details = {
  VALIDATION_ERROR: ['body'],
  INSUFFICIENT_SCOPE: ['charge:write'],
  INVALID_DOCUMENT: ['customer.document'],
  INVALID_WEBHOOK_URL: ['webhook_url'],
  INVALID_WEBHOOK_EVENT: ['charge.paid'],
};

const NOTES: Partial<Record<PublicErrorCode, string>> = {
  RATE_LIMITED:
    'Too many requests of this account under way at once (by default never with fewer than 1,000), or more than a limit that was agreed on. Nothing has happened; the header `Retry-After` says when to go on.',
  INTERNAL_ERROR:
    'Unexpected failure, or an outcome that is not known yet. Repeat the call with the same idempotency key.',
  INSUFFICIENT_SCOPE: 'The key lacks the scope of this route; `details` names it.',
  VALIDATION_ERROR: 'The request is invalid; `details` names every field, header or parameter.',
};

/** Errors whose body may name a charge, by route that makes one (decisions 16, 62). */
const WITH_CHARGE: ReadonlySet<PublicErrorCode> = new Set(['ACQUIRER_REJECTED', 'INTERNAL_ERROR']);

export const PATH_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'UUID in any case. Other text is answered like an unknown id.',
  schema: { type: 'string', format: 'uuid' },
};

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description:
    '8 to 255 printable ASCII characters, case sensitive, unique per operation and application; remembered for ever. ' +
    'Missing, blank or shorter: `IDEMPOTENCY_KEY_REQUIRED`. Longer, repeated or not printable: `VALIDATION_ERROR`.',
  schema: {
    type: 'string',
    minLength: 8,
    maxLength: 255,
    pattern: '^[\\x21-\\x7E][\\x20-\\x7E]*[\\x21-\\x7E]$',
  },
  example: 'order-1042',
};

/** Every list pages alike (specification, Pagination rules). */
export const PAGING: Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'Items of a page.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
  {
    name: 'starting_after',
    in: 'query',
    required: false,
    description: 'Id of the last item of the previous page; the answer starts after it.',
    schema: { type: 'string', format: 'uuid' },
  },
];

const QUERY_TEXTS: Readonly<Record<string, string>> = {
  status: 'Only items with this status.',
  method: 'Only items of this payment method.',
  created_after: 'Only items created after this instant. A date alone means 00:00 UTC.',
  created_before: 'Only items created before this instant. A date alone means 00:00 UTC.',
};

export const REPLAY_HEADERS: Record<string, Header> = {
  'Idempotent-Replayed': {
    description: 'Present when this key had already made the resource.',
    schema: { type: 'string', const: 'true' },
  },
  'Idempotency-Mismatch': {
    description: 'Present when the key was repeated with another body; nothing was changed.',
    schema: { type: 'string', const: 'true' },
  },
};

/** Joins one row of the route table with its texts. */
export function describePublicRoute(
  operationId: string,
  route: PublicRoute,
  context: { text: RouteText; schemas: DocumentSchemas },
): DescribedRoute {
  const { text, schemas } = context;
  const scope = route.scope === null ? 'Needs any valid key.' : `Needs scope \`${route.scope}\`.`;
  return {
    operationId,
    method: route.method,
    path: route.path,
    summary: text.summary,
    description: `${text.description}\n\n${scope}`,
    tag: text.tag,
    parameters: describeParameters(route, schemas),
    body:
      route.body === null
        ? null
        : { schema: route.body, required: true, examples: text.bodies ?? {} },
    success: {
      status: route.status,
      description: text.answer,
      schema: route.response,
      headers: route.creates === null ? {} : REPLAY_HEADERS,
      examples: text.answers,
    },
    errors: codesOf(route).map((code) => describeError(code, route, text.details ?? {})),
    extensions: { 'x-scope': route.scope },
  };
}

function describeParameters(route: PublicRoute, schemas: DocumentSchemas): Parameter[] {
  return [
    ...(route.path.includes('/:id') ? [PATH_ID] : []),
    ...(route.creates === null ? [] : [IDEMPOTENCY_KEY]),
    ...(route.query === null ? [] : PAGING),
    ...(route.query === null ? [] : describeFilters(schemas.propertiesOf(route.query))),
  ];
}

export function describeFilters(
  properties: ReturnType<DocumentSchemas['propertiesOf']>,
): Parameter[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    ...(QUERY_TEXTS[name] === undefined ? {} : { description: QUERY_TEXTS[name] }),
    schema,
  }));
}

/** Codes of the table, and those that every route may answer. */
function codesOf(route: PublicRoute): PublicErrorCode[] {
  return [
    ...route.errors,
    'UNAUTHORIZED',
    ...(route.scope === null ? [] : (['INSUFFICIENT_SCOPE'] as const)),
    'RATE_LIMITED',
    'INTERNAL_ERROR',
  ];
}

function describeError(code: PublicErrorCode, route: PublicRoute, own: Details): DescribedError {
  const withCharge = route.creates === 'charge' && WITH_CHARGE.has(code);
  const details = own[code] ?? DETAILS[code];
  return {
    code,
    schema: withCharge ? ChargeErrorSchema : ErrorSchema,
    example: {
      ...(details === undefined ? {} : { details }),
      ...(withCharge ? { charge_id: CHARGE.id } : {}),
    },
    isOwn: own[code] !== undefined || withCharge,
    ...(NOTES[code] === undefined ? {} : { note: NOTES[code] }),
  };
}
