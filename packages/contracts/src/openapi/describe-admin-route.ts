import type { AdminRoute } from '../admin/admin-route.ts';
import type { PublicErrorCode } from '../http/error-body.ts';

import type { DescribedRoute } from './build-operation.ts';
import type { DocumentSchemas } from './build-schemas.ts';
import {
  describeFilters,
  IDEMPOTENCY_KEY,
  PAGING,
  PATH_ID,
  REPLAY_HEADERS,
} from './describe-public-route.ts';
import type { Parameter } from './document.ts';
import { AdminErrorSchema } from './error-schemas.ts';
import { DeadLetterService } from '../admin/admin-queries.ts';

const PATH_SERVICE: Parameter = {
  name: 'service',
  in: 'path',
  required: true,
  schema: { type: 'string', enum: DeadLetterService.options },
};

/** Every route may be asked in another operator's name, and wrongly so. */
const EVERY_ROUTE: readonly PublicErrorCode[] = [
  'VALIDATION_ERROR',
  'UNAUTHORIZED',
  'INTERNAL_ERROR',
];

/** Joins one row of the admin table with what all rows have in common. */
export function describeAdminRoute(
  operationId: string,
  route: AdminRoute,
  schemas: DocumentSchemas,
): DescribedRoute {
  const { body, status, response } = route;
  return {
    operationId,
    method: route.method,
    path: route.path,
    summary: route.summary,
    description: route.summary,
    tag: route.tag,
    parameters: describeParameters(route, schemas),
    body:
      body === null ? null : { schema: body, required: route.bodyOptional !== true, examples: {} },
    success: {
      status,
      description: response === null ? 'Done.' : route.summary,
      schema: response,
      headers: route.repeatable ? REPLAY_HEADERS : {},
      examples: {},
    },
    errors: codesOf(route).map((code) => ({
      code,
      schema: AdminErrorSchema,
      example: {},
      isOwn: false,
    })),
  };
}

/** Codes of the table, and those that follow from what a route takes. */
function codesOf(route: AdminRoute): PublicErrorCode[] {
  return [
    ...(route.repeatable ? (['IDEMPOTENCY_KEY_REQUIRED'] as const) : []),
    ...route.errors,
    ...(route.body === null ? [] : (['PAYLOAD_TOO_LARGE'] as const)),
    ...EVERY_ROUTE,
  ];
}

function describeParameters(route: AdminRoute, schemas: DocumentSchemas): Parameter[] {
  return [
    ...(route.path.includes('/:service') ? [PATH_SERVICE] : []),
    ...(route.path.includes('/:id') ? [PATH_ID] : []),
    ...(route.repeatable ? [{ ...IDEMPOTENCY_KEY, required: route.keyRequired === true }] : []),
    ...(route.paged ? PAGING : []),
    ...(route.query === null ? [] : describeFilters(schemas.propertiesOf(route.query))),
  ];
}
