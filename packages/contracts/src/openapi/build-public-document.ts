import { PUBLIC_ROUTES, type PublicRoute } from '../http/public-routes.ts';
import { buildPaths, SHARED_HEADERS } from './build-operation.ts';
import { buildWebhooks } from './build-webhooks.ts';
import { describePublicRoute } from './describe-public-route.ts';
import type { OpenApiDocument } from './document.ts';
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
  return {
    openapi: '3.1.1',
    info: { title: 'Pix Charges and Payouts API', version: 'v1', description: PUBLIC_GUIDE },
    servers: [{ url: '/', description: 'This installation' }],
    tags: [
      { name: 'Charges', description: 'Money in by Pix.' },
      { name: 'Payouts', description: 'Money out by Pix, from the balance of the account.' },
      { name: 'Balance', description: 'What the account holds.' },
      { name: 'Account', description: 'The account that owns the key.' },
      { name: 'Webhooks', description: 'Registered endpoints and the event catalog.' },
      { name: 'Events', description: 'What is delivered to `webhook_url` and to endpoints.' },
    ],
    security: [{ ApiKey: [] }],
    paths: buildPaths(routes, schemas),
    webhooks: buildWebhooks(schemas),
    components: {
      schemas: schemas.components,
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
