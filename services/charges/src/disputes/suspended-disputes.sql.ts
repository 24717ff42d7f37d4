import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { MED_PREFIX } from './dispute-row.ts';

/** Records the acquirer's status of a dispute of a Pix in suspense; false where it is recorded already. */
export async function recordSuspendedDispute(
  db: Queryable,
  seen: AcquirerDispute,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'record_suspended_dispute',
      sql`
        insert into suspended_disputes as known (infraction_id, end_to_end_id, amount, status, opened_at)
        values (${seen.id}, ${seen.endToEndId}, ${seen.amountCents}, ${seen.status}, ${seen.openedAt})
        on conflict (infraction_id) do update
        set status = excluded.status,
            noted_at = now()
        where known.status <> excluded.status
        returning infraction_id`,
    ),
  );
  return rows.length === 1;
}

/**
 * Whether a dispute may still take a Pix in suspense back: it is open, or it is lost and the acquirer, within its time
 * (`returnWindowMs`), has not returned all of what was contested. Reads `suspended_disputes_pix`.
 */
export async function isStillDisputed(
  tx: Transaction,
  endToEndId: string,
  returnWindowMs: number,
): Promise<boolean> {
  const rows = await tx.query(
    named(
      'find_standing_suspended_dispute',
      sql`
        select infraction_id
        from suspended_disputes
        where end_to_end_id = ${endToEndId}
          and (
            status in ('open', 'under_review')
            or status = 'accepted'
              and noted_at > now() - ${returnWindowMs}::float8 * interval '1 ms'
              and amount > (
                select coalesce(sum(pix_returns.amount), 0)
                from pix_returns
                where pix_returns.end_to_end_id = ${endToEndId} and starts_with(nature, ${MED_PREFIX})
              )
          )
        limit 1`,
    ),
  );
  return rows.length > 0;
}
