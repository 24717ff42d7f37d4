import type { HoldState } from '@pixmesh/contracts/internal/holds';
import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

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

type HoldFilter = { state: HoldState | null; kind: HoldKind | null };

export type HoldPage = { limit: number; startingAfter: string | null; filters: HoldFilter };

/** Holds by id, after the hold `startingAfter`. */
export async function listHolds(db: Queryable, page: HoldPage): Promise<HoldRow[]> {
  const { state } = page.filters;
  return await db.query<HoldRow>(
    state === 'open' ? openHoldsStatement(page) : holdsStatement(page),
  );
}

/**
 * Few holds are open at a time, of all that ever were: they are read by `holds_open` and sorted. The inner select keeps
 * the planner from walking the primary key in their order instead.
 */
export function openHoldsStatement({ filters: { kind }, ...page }: HoldPage): Statement {
  return named(
    'holds_list_open',
    sql`
      with opened as materialized (
        select ${COLUMNS}
        from holds
        where state = 'open'
          and (${kind}::hold_kind is null or kind = ${kind}::hold_kind)
          and (${page.startingAfter}::uuid is null or hold_id > ${page.startingAfter}::uuid)
      )
      select * from opened order by hold_id limit ${page.limit}`,
  );
}

/**
 * Walks the primary key from the cursor on. The first page has a bound too: a plan that is kept enters the index at a
 * bound only where every page has one.
 */
export function holdsStatement({ filters: { state, kind }, ...page }: HoldPage): Statement {
  return named(
    'holds_list',
    sql`
      select ${COLUMNS}
      from holds
      where (${state}::hold_state is null or state = ${state}::hold_state)
        and (${kind}::hold_kind is null or kind = ${kind}::hold_kind)
        and hold_id > ${page.startingAfter ?? NIL_ID}::uuid
      order by hold_id
      limit ${page.limit}`,
  );
}

/** Primary key read. */
export async function findHold(db: Queryable, holdId: string): Promise<HoldRow | null> {
  const [row] = await db.query<HoldRow>(
    named('hold_find', sql`select ${COLUMNS} from holds where hold_id = ${holdId}`),
  );
  return row ?? null;
}
