import { ERRORS } from '@pixmesh/kernel/app-error';
import type { z } from 'zod';

import { ERROR_STATUS, type PublicErrorCode } from '../http/error-body.ts';
import type { DocumentSchemas } from './build-schemas.ts';
import type {
  Content,
  Example,
  Header,
  HttpMethod,
  JsonSchema,
  Link,
  Operation,
  Parameter,
  PathItem,
  Response,
} from './document.ts';

/** One code that a route may answer. */
export type DescribedError = {
  code: PublicErrorCode;
  /** The body's schema: errors of some routes carry more. */
  schema: z.ZodType;
  /** What the example carries beside code and message. */
  example: { details?: readonly string[]; charge_id?: string };
  /** Why, or when, where the code alone does not say it. */
  note?: string;
};

/** One route as any of the product's documents describes it. Built from a route table, never written by hand. */
export type DescribedRoute = {
  operationId: string;
  method: string;
  /** As the router has it, `:id` included. */
  path: string;
  summary: string;
  description: string;
  tag: string;
  parameters: Parameter[];
  body: { schema: z.ZodType; required: boolean; examples: Record<string, Example> } | null;
  success: {
    status: number;
    description: string;
    schema: z.ZodType | null;
    headers: Record<string, Header>;
    examples: Record<string, Example>;
  };
  errors: readonly DescribedError[];
  /** Keys of the operation beyond the standard's, such as `x-scope`. */
  extensions?: Pick<Operation, 'x-scope'>;
};

const EVERY_ANSWER = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

/** What the documents share under `components.headers`. */
export const SHARED_HEADERS: Record<string, Header> = {
  RequestId: {
    description: 'Identifies this call; name it when you ask for help.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
};

/** Turns a table of routes into the `paths` of a document. */
export function buildPaths(
  routes: readonly DescribedRoute[],
  schemas: DocumentSchemas,
): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const route of routes) {
    const item = (paths[toTemplate(route.path)] ??= {});
    item[route.method.toLowerCase() as HttpMethod] = buildOperation(route, {
      schemas,
      links: buildLinks(route, routes),
    });
  }
  return paths;
}

/** `/v1/charges/:id` as the standard writes it: `/v1/charges/{id}`. */
export function toTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** Where the id of what a route made leads next: every route below it. */
function buildLinks(
  made: DescribedRoute,
  routes: readonly DescribedRoute[],
): Record<string, Link> | null {
  if (made.success.status !== 201) return null;
  const next = routes.filter(({ path }) => path === `${made.path}/:id`);
  if (next.length === 0) return null;
  const parameters = { id: '$response.body#/id' };
  return Object.fromEntries(
    next.map(({ operationId }) => [operationId, { operationId, parameters }]),
  );
}

function buildOperation(
  route: DescribedRoute,
  { schemas, links }: { schemas: DocumentSchemas; links: Record<string, Link> | null },
): Operation {
  const { body, success } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: route.description,
    tags: [route.tag],
    ...route.extensions,
    ...(route.parameters.length === 0 ? {} : { parameters: route.parameters }),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: body.required,
            content: jsonOf(schemas.refTo(body.schema), body.examples),
          },
        }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: { ...EVERY_ANSWER, ...success.headers },
        ...(success.schema === null
          ? {}
          : { content: jsonOf(schemas.refTo(success.schema), success.examples) }),
        ...(links === null ? {} : { links }),
      },
      ...buildErrors(route.errors, schemas),
    },
  };
}

/** Errors stand by status, one example for each code, and the status names the codes that it may carry. */
function buildErrors(
  errors: readonly DescribedError[],
  schemas: DocumentSchemas,
): Record<string, Response> {
  const byStatus = Map.groupBy(errors, ({ code }) => ERROR_STATUS[code]);
  const entries = [...byStatus].toSorted(([one], [other]) => one - other);
  return Object.fromEntries(
    entries.map(([status, group]) => [status, buildErrorResponse(status, group, schemas)]),
  );
}

function buildErrorResponse(
  status: number,
  errors: readonly DescribedError[],
  schemas: DocumentSchemas,
): Response {
  const codes = errors.map(({ code }) => code);
  const richest = errors.find(({ example }) => 'charge_id' in example) ?? errors[0];
  const schema: JsonSchema = {
    allOf: [
      schemas.refTo((richest as DescribedError).schema),
      { type: 'object', properties: { code: { type: 'string', enum: codes } } },
    ],
  };
  const examples = errors.map(({ code, example }) => [
    code,
    {
      summary: ERRORS[code].title,
      value: { code, message: ERRORS[code].title, details: [], ...example },
    },
  ]);
  const retryAfter: Header = {
    description: 'Seconds until another call is taken.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
  };
  return {
    description: errors.map(describeError).join('\n'),
    headers: { ...EVERY_ANSWER, ...(status === 429 ? { 'Retry-After': retryAfter } : {}) },
    content: jsonOf(schema, Object.fromEntries(examples)),
  };
}

function describeError({ code, note }: DescribedError): string {
  return `- \`${code}\`: ${note ?? ERRORS[code].title}`;
}

function jsonOf(schema: JsonSchema, examples: Record<string, Example>): Content {
  return { 'application/json': { schema, examples } };
}
