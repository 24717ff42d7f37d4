import { callerOf } from '@pixmesh/http/internal-auth';
import type { FastifyRequest } from 'fastify';

import type { EndpointOwner } from './endpoint-row.ts';

/** The application that calls: it comes from the key, never from path or body. */
export function ownerOf(request: FastifyRequest): EndpointOwner {
  const caller = callerOf(request);
  return { accountId: caller.account_id, applicationId: caller.application_id };
}
