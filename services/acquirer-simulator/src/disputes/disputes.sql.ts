import { violatedConstraint } from '@pixmesh/postgres/database-error';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { Window } from '#api-pix/window.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';

import type { DisputeStatus, StoredDispute } from './dispute-resource.ts';

export type NewDispute = {
  endToEndId: string;
  amountCents: bigint;
  reason: string;
  status: 'ABERTA' | 'EM_DEFESA';
  openedAt: Date;
  deadlineAt: Date;
};

/** Whether the error says that another dispute of the Pix is open. */
export function isSecondOpenDispute(error: unknown): boolean {
  return violatedConstraint(error) === 'disputes_one_open';
}

/** Stores a dispute about a Pix that the transaction holds, with its journal entry; answers its id. */
export async function insertDispute(tx: Transaction, dispute: NewDispute): Promise<string> {
  const rows = await tx.query<{ id: string }>(
    named(
      'dispute_insert',
      sql`
        with ${JOURNAL_GATE},
        opened as (
          insert into disputes (end_to_end_id, amount, reason, status, opened_at, deadline_at)
          select
            ${dispute.endToEndId}, ${dispute.amountCents}::bigint, ${dispute.reason},
            ${dispute.status}, ${dispute.openedAt}::timestamptz, ${dispute.deadlineAt}::timestamptz
          from gate
          returning id, end_to_end_id, amount
        ),
        entry as (
          insert into journal (kind, txid, end_to_end_id, amount)
          select 'dispute_opened', txid, end_to_end_id, opened.amount
          from opened
          join received_pix using (end_to_end_id)
        )
        select id
        from opened`,
    ),
  );
  return (rows as [{ id: string }])[0].id;
}

export async function findDispute(db: Queryable, id: string): Promise<StoredDispute | null> {
  const rows = await db.query<Row>(
    named(
      'dispute_find',
      sql`select ${COLUMNS}, ${RETURNED} as returned from disputes where id = ${id}::uuid`,
    ),
  );
  return rows[0] ? toStoredDispute(rows[0]) : null;
}

/** Hears the receiver: the dispute is under review from then on. */
export async function storeDefense(
  tx: Transaction,
  received: { id: string; defense: object; at: Date },
): Promise<void> {
  await tx.query(
    named(
      'dispute_store_defense',
      sql`
        update disputes
        set status = 'EM_DEFESA',
            defense_received_at = ${received.at}::timestamptz,
            defense = ${JSON.stringify(received.defense)}::jsonb
        where id = ${received.id}::uuid`,
    ),
  );
}

/** Closes a dispute, with its journal entry. `nature` is that of the return that a lost one leads to. */
export async function storeDecision(
  tx: Transaction,
  decided: { id: string; status: DisputeStatus; at: Date; nature: string | null },
): Promise<void> {
  await tx.query(
    named(
      'dispute_store_decision',
      sql`
        with ${JOURNAL_GATE},
        decided as (
          update disputes
          set status = ${decided.status}, decided_at = ${decided.at}::timestamptz
          from gate
          where id = ${decided.id}::uuid
          returning end_to_end_id, amount
        )
        insert into journal (kind, txid, end_to_end_id, amount, natureza)
        select 'dispute_decided', txid, end_to_end_id, decided.amount, ${decided.nature}
        from decided
        join received_pix using (end_to_end_id)`,
    ),
  );
}

/** Disputes whose time for a defense is over come under review; answers how many. Index `disputes_deadline_at`. */
export async function reviewOverdueDisputes(db: Queryable): Promise<number> {
  const rows = await db.query(
    named(
      'disputes_review_overdue',
      sql`
        update disputes
        set status = 'EM_DEFESA'
        where status = 'ABERTA' and deadline_at <= now_()
        returning id`,
    ),
  );
  return rows.length;
}

/** One page of the disputes opened in a window, oldest first, and how many there are. Index `disputes_opened_at`. */
export async function listDisputes(
  db: Queryable,
  window: Window,
): Promise<{ disputes: StoredDispute[]; total: number }> {
  const [page, counts] = await Promise.all([
    db.query<Row>(
      named(
        'disputes_list',
        sql`
          select ${COLUMNS}, ${RETURNED} as returned
          from disputes
          where opened_at between ${window.from} and ${window.to}
          order by opened_at, id
          limit ${window.limit}::int
          offset ${window.offset}::int`,
      ),
    ),
    db.query<{ total: bigint }>(
      named(
        'disputes_count',
        sql`
          select count(*) as total
          from disputes
          where opened_at between ${window.from} and ${window.to}`,
      ),
    ),
  ]);
  return { disputes: page.map(toStoredDispute), total: Number(counts[0]?.total ?? 0n) };
}

const COLUMNS: Statement = sql`
  id, protocol, end_to_end_id, amount, reason, status, opened_at, deadline_at,
  defense_received_at, decided_at`;

const RETURNED: Statement = sql`
  coalesce(
    (
      select sum(received_returns.amount)
      from received_returns
      where received_returns.dispute_id = disputes.id
    ),
    0
  )::bigint`;

function toStoredDispute(row: Row): StoredDispute {
  return {
    id: row.id,
    protocol: row.protocol,
    endToEndId: row.end_to_end_id,
    amountCents: row.amount,
    reason: row.reason,
    status: row.status,
    openedAt: row.opened_at,
    deadlineAt: row.deadline_at,
    defenseReceivedAt: row.defense_received_at,
    decidedAt: row.decided_at,
    returnedCents: row.returned,
  };
}

type Row = {
  id: string;
  protocol: bigint;
  end_to_end_id: string;
  amount: bigint;
  reason: string;
  status: DisputeStatus;
  opened_at: Date;
  deadline_at: Date;
  defense_received_at: Date | null;
  decided_at: Date | null;
  returned: bigint;
};
