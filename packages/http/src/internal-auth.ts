import type {
  Claims,
  OperatorClaims,
  TenantClaims,
} from '@pixmesh/contracts/internal/caller-claims';
import { decodeClaims } from '@pixmesh/contracts/internal/claims-header';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { IdentityName } from '@pixmesh/contracts/internal/identities';
import type { InternalRoute } from '@pixmesh/contracts/internal/internal-routes';
import { runForAccount } from '@pixmesh/fair-share/current-account';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { Peers } from './peers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `guardRoutes`; null for a call that a service makes for itself. */
    claims: Claims | null;
  }
}

/**
 * Has a listener serve the routes of its table to the callers that the table names, and nothing else to anybody. What
 * the gateway says of the one for whom it calls is read; the calls of a tenant run for its account.
 */
export function guardRoutes(
  app: FastifyInstance,
  table: readonly InternalRoute[],
  peers: Pick<Peers, 'nameOf'>,
): void {
  const routes = new Map(table.map((route) => [`${route.method} ${route.path}`, route]));
  app.decorateRequest('claims', null);
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      if (routes.has(`${one} ${url}`)) continue;
      throw new Error(`${one} ${url} is not in the table of internal routes`);
    }
  });
  app.addHook('onRequest', async (request) => {
    const caller = knownCaller(peers.nameOf(request));
    const route = routes.get(`${request.method} ${request.routeOptions.url}`);
    if (route !== undefined && !route.callers.includes(caller)) {
      throw new AppError('CALLER_NOT_ALLOWED', { message: `${caller} may not call this route` });
    }
    request.claims = readClaims(request, caller, route);
  });
  app.addHook('onRequest', ({ claims }, _reply, done) => {
    if (claims !== null && 'tenant' in claims) runForAccount(claims.tenant.account_id, done);
    else done();
  });
}

/**
 * The tenant on whose behalf the request is made.
 * @throws AppError `UNAUTHORIZED` where the route's claims are others
 */
export function tenantOf({ claims }: FastifyRequest): TenantClaims {
  if (claims === null || !('tenant' in claims)) throw new AppError('UNAUTHORIZED');
  return claims.tenant;
}

/**
 * The operator for whom the request is made.
 * @throws AppError `UNAUTHORIZED` where the route's claims are others
 */
export function operatorOf({ claims }: FastifyRequest): OperatorClaims {
  if (claims === null || !('operator' in claims)) throw new AppError('UNAUTHORIZED');
  return claims.operator;
}

function knownCaller(name: string | null): IdentityName {
  const known = IdentityName.safeParse(name);
  if (known.success) return known.data;
  throw new AppError('CALLER_NOT_ALLOWED', { message: 'the caller has no name of the mesh' });
}

/** The gateway alone speaks for others (decision 257): from anybody else, the header is refused whatever it says. */
function readClaims(
  request: FastifyRequest,
  caller: IdentityName,
  route: InternalRoute | undefined,
): Claims | null {
  const header = request.headers[INTERNAL_HEADERS.claims];
  if (caller !== 'gateway') {
    if (header === undefined) return null;
    throw new AppError('CALLER_NOT_ALLOWED', { message: `${caller} speaks for another` });
  }
  const claims = typeof header === 'string' ? decodeClaims(header) : null;
  if (route === undefined || kindOf(claims) === route.claims) return claims;
  throw new AppError('UNAUTHORIZED', { message: `claims of ${kindOf(claims)}: not of the route` });
}

function kindOf(claims: Claims | null): InternalRoute['claims'] {
  if (claims === null) return 'none';
  return 'tenant' in claims ? 'tenant' : 'operator';
}
