import type { AccountBreak } from '@pixmesh/contracts/internal/account-breaks';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** A break, and the service whose check has found it. */
export type SeenBreak = AccountBreak & { service: string };

/** Those that no stop was in force for when they were seen. Reads `payout_stop_breaks_pkey`. */
export async function findUnseenBreaks(
  db: Queryable,
  breaks: readonly SeenBreak[],
): Promise<SeenBreak[]> {
  const rows = await db.query<{ place: number }>(
    named(
      'payout_stop_breaks_unseen',
      sql`
        select place::int
        from unnest(${keysOf(breaks)}) with ordinality
          as seen (service, check_name, kind, break_id, since, place)
        where not exists (
          select
          from payout_stop_breaks as known
          where (known.service, known.check_name, known.kind, known.break_id, known.since)
            = (seen.service, seen.check_name, seen.kind, seen.break_id, seen.since)
        )`,
    ),
  );
  return rows.flatMap(({ place }) => breaks[place - 1] ?? []);
}

/** Records that breaks were seen under a stop. */
export async function insertStopBreaks(
  tx: Transaction,
  stopId: string,
  breaks: readonly SeenBreak[],
): Promise<void> {
  await tx.query(
    named(
      'payout_stop_breaks_insert',
      sql`
        insert into payout_stop_breaks (service, check_name, kind, break_id, since, stop_id)
        select seen.*, ${stopId}::uuid from unnest(${keysOf(breaks)}) as seen
        on conflict do nothing`,
    ),
  );
}

/** One change of stops at a time, until the end of the transaction. Creations and claims only read, and pass. */
export async function lockStops(tx: Transaction): Promise<void> {
  await tx.query(sql`lock table payout_stops in share row exclusive mode`);
}

function keysOf(breaks: readonly SeenBreak[]): Statement {
  return sql`
    ${breaks.map(({ service }) => service)}::text[], ${breaks.map(({ check }) => check)}::text[],
    ${breaks.map(({ kind }) => kind)}::text[], ${breaks.map(({ id }) => id)}::text[],
    ${breaks.map(({ since }) => since)}::timestamptz[]`;
}
