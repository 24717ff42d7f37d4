import type { AcquirerPayout } from '@pixmesh/acquirer/acquirer';
import type { PayoutId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** An order of the list, as far as it is compared: its state, and the returns of its money that were carried out. */
export type ListedSend = Pick<AcquirerPayout, 'status'> & {
  id: PayoutId;
  returned: readonly { returnId: string; amountCents: bigint }[];
};

/**
 * Requests checks at once of the payouts that a page of the list shows otherwise than they are: ended, ended otherwise,
 * or with a return that is not recorded and can be. One whose contradiction is known waits for an operator, as does a
 * return above the payout's amount, and one that has ended and is still under way there for its routine check. Returns
 * how many. Reads `payouts_pkey` and `payout_returns_payout`, in one statement; locks the payouts in the order of their
 * ids, since others lock several at once too.
 */
export async function requestDiffering(
  db: Queryable,
  page: readonly ListedSend[],
): Promise<number> {
  if (page.length === 0) return 0;
  const returns = page.flatMap(({ id, returned }) => returned.map((item) => ({ id, ...item })));
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
            ${returns.map(({ returnId }) => returnId)}::text[],
            ${returns.map(({ amountCents }) => amountCents)}::bigint[]
          ) as returned (id, return_id, cents)
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
          cross join lateral (
            select coalesce(sum(amount), 0) as total, count(*) filter (where return_id = returned.return_id) as known
            from payout_returns
            where payout_id = payouts.id
          ) as recorded
          where (status = 'completed' or ending = 'settle') and contradiction is null
            and known = 0 and amount >= total + cents
        )
        update payouts
        set check_at = '-infinity', due_at = null
        where id = any(array(
          select id from payouts
          where id = any(array(select id from differing)) and check_at is distinct from '-infinity'
          order by id
          for update
        ))
        returning id`,
    ),
  );
  return rows.length;
}
