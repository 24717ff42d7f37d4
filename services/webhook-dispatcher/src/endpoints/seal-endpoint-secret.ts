import type { EndpointId } from '@pixmesh/kernel/ids';
import { sealSecret } from '@pixmesh/kernel/sealed-secret';

import type { EndpointOwner } from './endpoint-row.ts';

/** Bound to its account and endpoint, so that a text moved to another row does not open (decision 209). */
export function sealEndpointSecret(
  deps: { sealingPublicKey: string },
  owner: EndpointOwner,
  endpoint: { id: EndpointId; secret: string },
): string {
  return sealSecret(deps.sealingPublicKey, endpoint.secret, `${owner.accountId}/${endpoint.id}`);
}
