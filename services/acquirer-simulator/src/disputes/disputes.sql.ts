import { violatedConstraint } from '@pixmesh/postgres/database-error';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { readWindowPage } from '#api-pix/list-window.sql.ts';
import type { Window } from '#api-pix/window.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';

import type { DisputeStatus, StoredDispute } from './dispute-resource.ts';

export type NewDispute = Pick<
  StoredDispute,
  'endToEndId' | 'amountCents' | 'reason' | 'status' | 'openedAt' | 'deadlineAt'
>;

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
  const [dispute = null] = await db.query<StoredDispute>(
    named('dispute_find', sql`select ${COLUMNS} from disputes where id = ${id}::uuid`),
  );
  return dispute;
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
        where status = 'ABERTA' and deadline_at <= (select now_())
        returning id`,
    ),
  );
  return rows.length;
}

/** One page of the disputes opened in a window, oldest first, and how many there are. Index `disputes_opened_at`. */
export async function listDisputes(db: Queryable, window: Window) {
  const list = {
    name: 'disputes',
    columns: COLUMNS,
    within: sql`from disputes where opened_at between ${window.from} and ${window.to}`,
    order: sql`opened_at, id`,
  };
  return await readWindowPage<StoredDispute>(db, list, window);
}

const COLUMNS: Statement = sql`
  id, protocol, end_to_end_id as "endToEndId", amount as "amountCents", reason, status,
  opened_at as "openedAt", deadline_at as "deadlineAt",
  defense_received_at as "defenseReceivedAt", decided_at as "decidedAt",
  coalesce(
    (
      select sum(received_returns.amount)
      from received_returns
      where received_returns.dispute_id = disputes.id
    ),
    0
  )::bigint as "returnedCents"`;
