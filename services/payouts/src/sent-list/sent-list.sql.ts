import type { AcquirerPayout } from '@pixmesh/acquirer/acquirer';
import type { PayoutId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** An order of the list, as far as it is compared: its state, and the returns of its money that were carried out. */
export type ListedSend = Pick<AcquirerPayout, 'endToEndId' | 'status'> & {
  id: PayoutId;
  returnIds: readonly string[];
};

/**
 * Requests checks at once of the payouts that a page of the list shows otherwise than they are: ended, ended otherwise,
 * or with a return that is not recorded. One whose contradiction is known waits for an operator, and one that has ended
 * and is still under way there for its routine check. Returns how many. Primary key reads, in one statement.
 */
export async function requestDiffering(
  db: Queryable,
  page: readonly ListedSend[],
): Promise<number> {
  if (page.length === 0) return 0;
  const returns = page.flatMap(({ id, endToEndId, returnIds }) =>
    returnIds.map((returnId) => ({ id, endToEndId, returnId })),
  );
  const rows = await db.query(
    named(
      'request_differing_payouts',
      sql`
        with listed as (
          select * from unnest(
            ${page.map(({ id }) => id)}::uuid[],
            ${page.map(({ status }) => status)}::text[]
          ) as listed (id, state)
        ),
        returned as (
          select * from unnest(
            ${returns.map(({ id }) => id)}::uuid[],
            ${returns.map(({ endToEndId }) => endToEndId)}::text[],
            ${returns.map(({ returnId }) => returnId)}::text[]
          ) as returned (id, end_to_end_id, return_id)
        ),
        differing as (
          select payouts.id
          from listed
          join payouts using (id)
          where contradiction is null and case
            when state = 'processing' then
              check_at is null and status in ('completed', 'failed', 'canceled')
            when status = 'completed' or ending = 'settle' then state <> 'settled'
            when status in ('failed', 'canceled') or ending = 'release' then state <> 'rejected'
            else status = 'processing'
          end
          union
          select payouts.id
          from returned
          join payouts using (id)
          where (status = 'completed' or ending = 'settle') and not exists (
            select from payout_returns
            where payout_returns.end_to_end_id = returned.end_to_end_id
              and payout_returns.return_id = returned.return_id
          )
        )
        update payouts
        set check_at = '-infinity', due_at = null
        from differing
        where payouts.id = differing.id and payouts.check_at is distinct from '-infinity'
        returning payouts.id`,
    ),
  );
  return rows.length;
}
