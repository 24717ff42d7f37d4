import type { z } from 'zod';

import type { DescribedError, ErrorResponses } from './build-errors.ts';
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
} from './document.ts';
import { EVERY_ANSWER } from './shared-headers.ts';

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

type Context = { schemas: DocumentSchemas; errors: ErrorResponses };

/** Turns a table of routes into the `paths` of a document. */
export function buildPaths(
  routes: readonly DescribedRoute[],
  context: Context,
): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const route of routes) {
    const item = (paths[toTemplate(route.path)] ??= {});
    item[route.method.toLowerCase() as HttpMethod] = buildOperation(
      route,
      buildLinks(route, routes),
      context,
    );
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
  links: Record<string, Link> | null,
  { schemas, errors }: Context,
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
      ...errors.refsOf(route.operationId, route.errors),
    },
  };
}

function jsonOf(schema: JsonSchema, examples: Record<string, Example>): Content {
  return { 'application/json': { schema, examples } };
}
