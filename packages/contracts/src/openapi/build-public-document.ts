import { PUBLIC_ROUTES, type PublicRoute } from '../http/public-routes.ts';
import { createErrorResponses } from './build-errors.ts';
import { buildPaths } from './build-operation.ts';
import { buildWebhooks } from './build-webhooks.ts';
import { describePublicRoute } from './describe-public-route.ts';
import type { OpenApiDocument } from './document.ts';
import { linkTo } from './link-to-guide.ts';
import { ORIGIN_TEXT } from './origin-text.ts';
import { SHARED_HEADERS } from './shared-headers.ts';
import { PUBLIC_GUIDE } from './public-guide.ts';
import { PUBLIC_ROUTE_TEXTS } from './public-route-texts.ts';
import { buildPublicSchemas } from './public-schemas.ts';

/** The document of `/v1`, made from the route table and the schemas that validate requests: it cannot drift. */
export function buildPublicDocument(): OpenApiDocument {
  const schemas = buildPublicSchemas();
  const routes = Object.entries<PublicRoute>(PUBLIC_ROUTES).map(([operationId, route]) =>
    describePublicRoute(operationId, route, {
      text: PUBLIC_ROUTE_TEXTS[operationId as keyof typeof PUBLIC_ROUTES],
      schemas,
    }),
  );
  const errors = createErrorResponses(schemas);
  return {
    openapi: '3.1.1',
    info: { title: 'Pix Charges and Payouts API', version: 'v1', description: PUBLIC_GUIDE },
    externalDocs: linkTo(
      'merchants/quick-start',
      'From a key to the first charge paid and the first payout',
    ),
    servers: [{ url: '/', description: ORIGIN_TEXT }],
    tags: [
      {
        name: 'Charges',
        description: 'Money in by Pix.',
        externalDocs: linkTo(
          'merchants/retry-safely',
          'Timeouts, 500s and the key of an operation',
        ),
      },
      {
        name: 'Payouts',
        description: 'Money out by Pix, from the balance of the account.',
        externalDocs: linkTo('merchants/money-and-documents', 'Cents, documents and Pix keys'),
      },
      { name: 'Balance', description: 'What the account holds.' },
      { name: 'Account', description: 'The account that owns the key.' },
      {
        name: 'Webhooks',
        description: 'Registered endpoints and the event catalog.',
        externalDocs: linkTo('merchants/receive-webhooks', 'Endpoints, signatures and retries'),
      },
      {
        name: 'Events',
        description: 'What is delivered to `webhook_url` and to endpoints.',
        externalDocs: linkTo('merchants/deduplicate-deliveries', 'Each event has its effect once'),
      },
    ],
    security: [{ ApiKey: [] }],
    paths: buildPaths(routes, { schemas, errors }),
    webhooks: buildWebhooks(schemas),
    components: {
      schemas: schemas.components,
      responses: errors.components,
      headers: SHARED_HEADERS,
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            'The static key of an application. Its scopes decide which routes it may call.',
        },
      },
    },
  };
}
