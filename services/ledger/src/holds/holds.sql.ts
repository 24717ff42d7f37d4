import type { HoldState } from '@pixmesh/contracts/internal/holds';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { HoldKind } from '#commands/ledger-command.ts';

export type HoldRow = {
  hold_id: string;
  account_id: string;
  resource_id: string;
  kind: HoldKind | null;
  amount: bigint;
  fee: bigint;
  state: HoldState;
  created_at: Date;
};

const COLUMNS = sql`hold_id, account_id, resource_id, kind, amount, fee, state, created_at`;

export type HoldFilter = { state: HoldState | null; kind: HoldKind | null };

/**
 * Holds by id, after the hold `startingAfter`. Open and settled ones are found by `holds_resource` where the planner
 * prefers it; everything else walks the primary key.
 */
export async function listHolds(
  db: Queryable,
  page: { limit: number; startingAfter: string | null; filters: HoldFilter },
): Promise<HoldRow[]> {
  const { state, kind } = page.filters;
  return await db.query<HoldRow>(
    named(
      'holds_list',
      sql`
        select ${COLUMNS}
        from holds
        where (${state}::hold_state is null or state = ${state}::hold_state)
          and (${kind}::hold_kind is null or kind = ${kind}::hold_kind)
          and (${page.startingAfter}::uuid is null or hold_id > ${page.startingAfter}::uuid)
        order by hold_id
        limit ${page.limit}`,
    ),
  );
}

/** Primary key read. */
export async function findHold(db: Queryable, holdId: string): Promise<HoldRow | null> {
  const [row] = await db.query<HoldRow>(
    named('hold_find', sql`select ${COLUMNS} from holds where hold_id = ${holdId}`),
  );
  return row ?? null;
}
