import { tenantOf } from '@pixmesh/http/internal-auth';
import type { FastifyRequest } from 'fastify';

import type { EndpointOwner } from './endpoint-row.ts';

/** The application that calls: it comes from the key, never from path or body. */
export function ownerOf(request: FastifyRequest): EndpointOwner {
  const tenant = tenantOf(request);
  return { accountId: tenant.account_id, applicationId: tenant.application_id };
}
