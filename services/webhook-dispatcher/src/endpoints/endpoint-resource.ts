import type { Webhook } from '@pixmesh/contracts/http/webhook';

import type { EndpointRow } from './endpoint-row.ts';

/** The endpoint as every route shows it. Fields are named one by one: nothing else can slip out. */
export function toEndpointResource(row: EndpointRow): Webhook {
  return {
    id: row.id,
    object: 'webhook',
    url: row.url,
    description: row.description,
    events: [...row.events],
    active: row.active,
    has_secret: row.hasSecret,
    created_at: row.createdAt.toISOString(),
  };
}
