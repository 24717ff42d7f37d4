import type { ChargeId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** A repeated callback about a Pix that was checked requests another check after this long; about ours in suspense, at once. */
const REPEAT_AFTER_MS = 60_000;

/** What an item of a callback names, as far as it can be an id at all. */
export type NamedByCallback = { chargeId: ChargeId | null; endToEndId: string | null };

/**
 * Requests a check at once of the charge that an item names, by its txid or by a Pix that is recorded for it; an
 * end-to-end id that no charge explains becomes a notice, one row for each. A charge that failed may never have been
 * issued, and explains nothing. Answers which of them it was.
 */
export async function requestCheckOfPix(
  db: Queryable,
  { chargeId, endToEndId }: NamedByCallback,
  traceparent: string | null,
): Promise<'charge' | 'notice' | 'nothing'> {
  const [row] = await db.query<{ charges: number; notices: number }>(
    named(
      'request_check_of_pix',
      sql`
        with requested as (
          update charges
          set check_at = '-infinity', check_traceparent = ${traceparent}
          where id in (
            select ${chargeId}::uuid
            union all
            select charge_id from received_pix where end_to_end_id = ${endToEndId} and charge_id is not null
          )
          returning status
        ),
        noticed as (
          insert into pix_notices (end_to_end_id, check_at, check_traceparent)
          select ${endToEndId}::text, now(), ${traceparent}::text
          where ${endToEndId}::text is not null and not exists (select from requested where status <> 'failed')
          on conflict (end_to_end_id) do update
          set check_at = now(), outcome = null, done_at = null, check_traceparent = excluded.check_traceparent
          where pix_notices.done_at < now() - ${REPEAT_AFTER_MS}::float8 * interval '1 ms'
            or pix_notices.outcome = 'suspended'
          returning end_to_end_id
        )
        select
          (select count(*)::int from requested) as charges,
          (select count(*)::int from noticed) as notices`,
    ),
  );
  if ((row?.charges ?? 0) > 0) return 'charge';
  return (row?.notices ?? 0) > 0 ? 'notice' : 'nothing';
}
