import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import { readWindowPage } from '#api-pix/list-window.sql.ts';
import type { Window } from '#api-pix/window.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';

import type { StoredSend } from './send-resource.ts';

/** An order with what the job still has to do about it. */
export type PlannedSend = StoredSend & {
  plannedStatus: 'REALIZADO' | 'NAO_REALIZADO';
  plannedReturns: readonly bigint[];
  /** Database time of the read, as it is stored. */
  readAt: Date;
};

/** Orders by the client's own id; null for one that nobody has used. Reads that come together share a statement. */
export type SendReads = WriteBatcher<string, StoredSend | null>;

export function createSendReads(db: Queryable): SendReads {
  return createWriteBatcher((ids) => findSendsByIdEnvio(db, ids));
}

/** In the order of the ids. Unique index `sends_id_envio`. */
async function findSendsByIdEnvio(
  db: Queryable,
  ids: readonly string[],
): Promise<(StoredSend | null)[]> {
  const rows = await db.query<Row>(
    named(
      'sends_find_by_id_envio',
      sql`select ${COLUMNS} from sends where id_envio = any(${ids}::text[])`,
    ),
  );
  const found = new Map(rows.map((row) => [row.idEnvio, toPlannedSend(row)]));
  return ids.map((id) => found.get(id) ?? null);
}

export async function findSendByEndToEndId(
  db: Queryable,
  endToEndId: string,
): Promise<PlannedSend | null> {
  const rows = await db.query<Row>(
    named(
      'send_find_by_end_to_end_id',
      sql`select ${COLUMNS} from sends where end_to_end_id = ${endToEndId}`,
    ),
  );
  return rows[0] ? toPlannedSend(rows[0]) : null;
}

/** Those of the given orders that exist, oldest first. */
export async function findSendsByEndToEndIds(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<StoredSend[]> {
  const rows = await db.query<Row>(
    named(
      'sends_find_by_end_to_end_ids',
      sql`
        select ${COLUMNS}
        from sends
        where end_to_end_id = any(${endToEndIds}::text[])
        order by requested_at, end_to_end_id`,
    ),
  );
  return rows.map(toPlannedSend);
}

/** One page of the orders of a window, oldest first, and how many there are. Index `sends_requested_at`. */
export async function listSends(db: Queryable, window: Window) {
  const list = {
    name: 'sends',
    columns: COLUMNS,
    within: sql`from sends where requested_at between ${window.from} and ${window.to}`,
    order: sql`requested_at, end_to_end_id`,
  };
  const { rows, total } = await readWindowPage<Row>(db, list, window);
  return { rows: rows.map(toPlannedSend), total };
}

/**
 * Takes orders that are due until the end of the transaction, oldest first; another process skips them, and
 * they are due again if this one dies. The journal's gate comes before the row locks, as everywhere. Index
 * `sends_due_at`.
 */
export async function claimDueSends(tx: Transaction, limit: number): Promise<PlannedSend[]> {
  const rows = await tx.query<Row>(
    named(
      'sends_claim_due',
      sql`
        with ${JOURNAL_GATE}
        select ${COLUMNS}
        from sends
        cross join gate
        where due_at <= (select now_())
        order by due_at
        limit ${limit}::int
        for update of sends skip locked`,
    ),
  );
  return rows.map(toPlannedSend);
}

/**
 * One order by either of its ids, locked until the end of the transaction. It is read after the lock: a look-up
 * that waits for a row would still see what came back of it as it was before the wait.
 */
export async function lockSend(tx: Transaction, id: string): Promise<PlannedSend | null> {
  const [locked] = await tx.query<{ endToEndId: string }>(
    named(
      'send_lock',
      sql`
        with ${JOURNAL_GATE}
        select end_to_end_id as "endToEndId"
        from sends
        cross join gate
        where id_envio = ${id} or end_to_end_id = ${id}
        for update of sends`,
    ),
  );
  return locked ? await findSendByEndToEndId(tx, locked.endToEndId) : null;
}

/** Amounts of returns as text: JSON numbers would pass through floats. */
const COLUMNS: Statement = sql`
  end_to_end_id as "endToEndId", id_envio as "idEnvio", status, amount as "amountCents",
  pix_key as "pixKey", payer_text as "payerText", recipient, requested_at as "requestedAt",
  settled_at as "settledAt", planned_status as "plannedStatus", error,
  planned_returns::text[] as "plannedReturns", (select now_())::timestamptz(3) as "readAt",
  array(
    select jsonb_build_object(
      'returnId', return_id,
      'id', id,
      'amount', send_returns.amount::text,
      'nature', nature,
      'returnedAt', returned_at
    )
    from send_returns
    where send_returns.end_to_end_id = sends.end_to_end_id
    order by returned_at, return_id
  ) as returns`;

function toPlannedSend(row: Row): PlannedSend {
  return {
    ...row,
    returns: row.returns.map(({ amount, returnedAt, ...rest }) => ({
      ...rest,
      amountCents: BigInt(amount),
      returnedAt: new Date(returnedAt),
    })),
    plannedReturns: row.plannedReturns.map(BigInt),
  };
}

type Row = Omit<PlannedSend, 'returns' | 'plannedReturns'> & {
  plannedReturns: string[];
  returns: { returnId: string; id: string; amount: string; nature: string; returnedAt: string }[];
};
