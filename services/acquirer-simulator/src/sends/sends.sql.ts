import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { readWindowPage } from '#api-pix/list-window.sql.ts';
import type { Window } from '#api-pix/window.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';

import type { SendPlan } from './decide-send.ts';
import type { StoredSend } from './send-resource.ts';

export type NewSend = Pick<
  StoredSend,
  'endToEndId' | 'idEnvio' | 'amountCents' | 'pixKey' | 'payerText' | 'recipient'
> & {
  /** Database time where null. */
  requestedAt: Date | null;
  plan: SendPlan;
};

/** An order with what the job still has to do about it. */
export type PlannedSend = StoredSend & {
  plannedStatus: 'REALIZADO' | 'NAO_REALIZADO';
  plannedReturns: readonly bigint[];
  /** Database time of the read, as it is stored. */
  readAt: Date;
};

/** Stores an order and its journal entry in one statement; null when the idEnvio is taken. */
export async function insertSend(
  db: Queryable,
  send: NewSend,
): Promise<{ requestedAt: Date } | null> {
  const { plan } = send;
  const [stored = null] = await db.query<{ requestedAt: Date }>(
    named(
      'send_insert',
      sql`
        with ${JOURNAL_GATE},
        send as (
          insert into sends (
            end_to_end_id, id_envio, amount, pix_key, payer_text, recipient, requested_at,
            planned_status, error, planned_returns, due_at, held
          )
          select
            ${send.endToEndId}, ${send.idEnvio}, ${send.amountCents}::bigint, ${send.pixKey},
            ${send.payerText}, ${JSON.stringify(send.recipient)}::jsonb,
            coalesce(${send.requestedAt}::timestamptz, now_()),
            ${plan.error === null ? 'REALIZADO' : 'NAO_REALIZADO'},
            ${plan.error === null ? null : JSON.stringify(plan.error)}::jsonb,
            ${plan.returns.map(String)}::bigint[],
            now_() + ${plan.settlesInMs}::int * interval '1 ms',
            ${plan.settlesInMs === null}::boolean
          from gate
          on conflict (id_envio) do nothing
          returning id_envio, end_to_end_id, amount, requested_at
        ),
        entry as (
          insert into journal (kind, id_envio, end_to_end_id, amount)
          select 'sent', id_envio, end_to_end_id, amount
          from send
        )
        select requested_at as "requestedAt"
        from send`,
    ),
  );
  return stored;
}

/** By the client's own id. Unique index `sends_id_envio`. */
export async function findSendByIdEnvio(
  db: Queryable,
  idEnvio: string,
): Promise<StoredSend | null> {
  const rows = await db.query<Row>(
    named('send_find_by_id_envio', sql`select ${COLUMNS} from sends where id_envio = ${idEnvio}`),
  );
  return rows[0] ? toPlannedSend(rows[0]) : null;
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
