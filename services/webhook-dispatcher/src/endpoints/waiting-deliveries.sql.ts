import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { EndpointOwner } from './endpoint-row.ts';

// Both statements follow a change of the endpoint in its transaction, never precede it, and read
// `deliveries_endpoint_pending`. What a sender holds at the moment stays under its claim.

/**
 * Deliveries that waited for a paused endpoint are looked at by their schedule again, however far they were put
 * off (decision 157).
 */
export async function resumeDeliveries(
  tx: Transaction,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<void> {
  await tx.query(resumeStatement(owner, id));
}

export function resumeStatement(owner: EndpointOwner, id: EndpointId): Statement {
  return named(
    'deliveries_resume',
    sql`
      update deliveries
      set due_at = greatest(coalesce(next_attempt_at, now()), now())
      where endpoint_id = ${id}
        and account_id = ${owner.accountId}
        and status = 'pending'
        and not leased`,
  );
}

/** Nothing more is sent for a deleted endpoint; what was sent stays as history (decision 158). */
export async function cancelDeliveries(
  tx: Transaction,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<void> {
  await tx.query(cancelStatement(owner, id));
}

export function cancelStatement(owner: EndpointOwner, id: EndpointId): Statement {
  return named(
    'deliveries_cancel',
    sql`
      update deliveries
      set status = 'canceled', next_attempt_at = null
      where endpoint_id = ${id}
        and account_id = ${owner.accountId}
        and status = 'pending'`,
  );
}
