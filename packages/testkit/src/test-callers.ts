import type { TenantClaims, Claims } from '@pixmesh/contracts/internal/caller-claims';
import { encodeClaims } from '@pixmesh/contracts/internal/claims-header';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { IdentityName } from '@pixmesh/contracts/internal/identities';
import {
  INTERNAL_ROUTES,
  type InternalRoute,
  type OwnerName,
} from '@pixmesh/contracts/internal/internal-routes';
import { newId, type OperatorId } from '@pixmesh/kernel/ids';

/** Claims of a request by an active account with default settings. */
export function aCaller(changes: Partial<TenantClaims> = {}): TenantClaims {
  return {
    account_id: newId(),
    application_id: newId(),
    key_id: newId(),
    request_id: newId(),
    creation_id: null,
    ...changes,
    settings: {
      status: 'active',
      onboarding_status: 'approved',
      auto_payout_enabled: true,
      payouts_enabled: true,
      payout_fee: 0,
      charge_expires_in: 86_400,
      release_delay_seconds: 0,
      late_payment_policy: 'accept',
      endpoints_max: null,
      ...changes.settings,
    },
  };
}

export function anOperator(id: string = newId()): Claims {
  return { operator: { operator_id: id as OperatorId, purpose: 'test' } };
}

/** A call of an owner as a test writes it: `route` is method and path. */
export type AskedCall = {
  route: string;
  caller: TenantClaims | null;
  body?: unknown;
  /** By whose certificate, where that is not the one that the table names. */
  as?: IdentityName;
};

/** The same as it goes over the wire, and by whom. */
export type PeerCall = {
  method: InternalRoute['method'];
  path: string;
  as: IdentityName;
  headers: Record<string, string>;
  body: unknown;
};

/**
 * How the table of internal routes wants a call to be made: for a tenant or an operator by the gateway, else by the
 * first of the route's callers. The `operator_id` of a body is who acts, and goes with the claims.
 */
export function callByTable(owner: OwnerName, asked: AskedCall): PeerCall {
  const { caller } = asked;
  const [method, path] = asked.route.split(' ') as [InternalRoute['method'], string];
  const known = INTERNAL_ROUTES[owner].find((one) => one.method === method && fits(one, path));
  const { operatorId, rest } = takeOperator(asked.body);
  const claims = claimsOf(caller, known, operatorId);
  const named = claims === null ? known?.callers[0] : 'gateway';
  const headers = claims === null ? {} : { [INTERNAL_HEADERS.claims]: encodeClaims(claims) };
  return { method, path, as: asked.as ?? named ?? 'gateway', headers, body: rest };
}

function claimsOf(
  caller: TenantClaims | null,
  route: InternalRoute | undefined,
  operatorId: string | undefined,
): Claims | null {
  if (caller !== null) return { tenant: caller };
  const isForOperators = route?.claims === 'operator' && route.callers[0] === 'gateway';
  return isForOperators ? anOperator(operatorId) : null;
}

function fits(route: InternalRoute, path: string): boolean {
  const pattern = route.path.replaceAll(/:\w+/g, '[^/]*');
  return new RegExp(`^${pattern}$`).test(path.split('?')[0] ?? '');
}

function takeOperator(body: unknown): { operatorId?: string; rest: unknown } {
  const isObject = typeof body === 'object' && body !== null && !Buffer.isBuffer(body);
  if (!isObject || !('operator_id' in body)) return { rest: body };
  const { operator_id: operatorId, ...rest } = body as { operator_id: string };
  return { operatorId, rest };
}
