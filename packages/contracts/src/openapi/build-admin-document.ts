import type { AdminRoute } from '../admin/admin-route.ts';
import { ADMIN_ROUTES } from '../admin/admin-routes.ts';
import { createErrorResponses } from './build-errors.ts';
import { buildPaths } from './build-operation.ts';
import { buildSchemas, type DocumentSchemas } from './build-schemas.ts';
import { describeAdminRoute } from './describe-admin-route.ts';
import type { OpenApiDocument } from './document.ts';
import { linkTo } from './link-to-guide.ts';
import { ORIGIN_TEXT } from './origin-text.ts';
import { SHARED_HEADERS } from './shared-headers.ts';
import { AdminCode, AdminErrorSchema } from './error-schemas.ts';

/** The document of `/admin`, made from its route table: for operators and their scripts. */
export function buildAdminDocument(): OpenApiDocument {
  const schemas = buildAdminSchemas();
  const routes = Object.entries(ADMIN_ROUTES).map(([operationId, route]) =>
    describeAdminRoute(operationId, route, schemas),
  );
  const errors = createErrorResponses(schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pixmesh Admin API',
      version: 'v1',
      description:
        'What operators, the dashboard and the CLI do with an installation. Errors have the body of `/v1`; lists are ' +
        'its envelope, newest first. Every change stands in the audit log. Outside production the bootstrap operator ' +
        'may speak for another one by `X-Operator: <id>`.',
    },
    servers: [{ url: '/', description: ORIGIN_TEXT }],
    tags: [
      { name: 'Operators', description: 'Who may call, and who changed what.' },
      { name: 'Tenants', description: 'Accounts, applications and keys.' },
      {
        name: 'Money',
        description: 'Charges, refunds, disputes, payouts, balances, journals and suspense.',
        externalDocs: linkTo('refunds-and-disputes', 'Money that goes back, is contested or waits'),
      },
      {
        name: 'Deliveries',
        description: 'Webhook endpoints, the delivery log, re-sending, and timelines of resources.',
        externalDocs: linkTo('what-happened', 'How to read a timeline'),
      },
      {
        name: 'Operations',
        description: 'Reconciliation, the request log and dead letters.',
        externalDocs: linkTo('reconciliation', 'What is compared, and what to do about a break'),
      },
    ],
    security: [{ OperatorToken: [] }],
    paths: buildPaths(routes, { schemas, errors }),
    components: {
      schemas: schemas.components,
      responses: errors.components,
      headers: SHARED_HEADERS,
      securitySchemes: {
        OperatorToken: { type: 'http', scheme: 'bearer', description: 'Token of an operator.' },
      },
    },
  };
}

/** Names follow the routes: `createKey` takes `CreateKeyBody` and answers `CreateKeyAnswer`. */
function buildAdminSchemas(): DocumentSchemas {
  const routes = Object.entries(ADMIN_ROUTES);
  const named = (suffix: string, pick: (route: AdminRoute) => AdminRoute['body']) => {
    const byName = new Map(
      routes.toReversed().flatMap(([id, route]) => {
        const schema = pick(route);
        return schema === null ? [] : [[schema, toName(id) + suffix] as const];
      }),
    );
    return Object.fromEntries([...byName].map(([schema, name]) => [name, schema]));
  };
  return buildSchemas({
    requests: named('Body', (route) => route.body),
    responses: {
      ...named('Answer', (route) => route.response),
      Error: AdminErrorSchema,
      ErrorCode: AdminCode,
    },
    queries: named('Query', (route) => route.query),
  });
}

function toName(operationId: string): string {
  return operationId.charAt(0).toUpperCase() + operationId.slice(1);
}
