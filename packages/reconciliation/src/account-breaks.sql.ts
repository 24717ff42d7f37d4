import { type AccountBreak, TOO_MANY } from '@pixmesh/contracts/internal/account-breaks';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { BREAKS_MAX } from './choose-kept.ts';

/**
 * The breaks of these checks that name an account. A check that has as many as are kept may have more: one break
 * without an account stands for them. Its `since` is set anew when their number grows: each break that is not kept
 * would have stopped payouts itself.
 */
export async function readAccountBreaks(
  db: Queryable,
  checks: readonly string[],
): Promise<AccountBreak[]> {
  const rows = await db.query<Omit<AccountBreak, 'since'> & { since: Date }>(
    named(
      'reconciliation_account_breaks',
      sql`
        with named_ones as (
          select check_name, kind, id, account_id, since
          from reconciliation_breaks
          where account_id is not null and not is_pending and check_name = any(${checks}::text[])
        )
        select check_name as check, kind, id, account_id, since from named_ones
        union all
        select check_name, ${TOO_MANY}, check_name, null, coalesce(account_breaks_grew_at, oldest)
        from (
          select check_name, min(since) as oldest
          from named_ones
          group by check_name
          having count(*) >= ${BREAKS_MAX}
        ) as many
        left join reconciliation_runs using (check_name)
        order by since, kind, id`,
    ),
  );
  return rows.map((row) => ({ ...row, since: row.since.toISOString() }));
}
