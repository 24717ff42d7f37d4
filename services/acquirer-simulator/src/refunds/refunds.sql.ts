import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { Announcement } from '#callbacks/announce.ts';
import { queueCallbacks } from '#callbacks/callbacks.sql.ts';
import type { Only } from '#faults/fault-script.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';

import type { RefundPlan } from './decide-refund.ts';
import type { PixReturn, ReturnStatus } from '#pix/return-resource.ts';

export type NewRefund = Omit<PixReturn, 'status' | 'reason' | 'settledAt'> & {
  endToEndId: string;
  plan: RefundPlan;
};

/** Stores an accepted refund of a Pix that the transaction holds. */
export async function insertRefund(tx: Transaction, refund: NewRefund): Promise<void> {
  const { plan } = refund;
  await tx.query(
    named(
      'refund_insert',
      sql`
        insert into received_returns (
          end_to_end_id, return_id, id, amount, nature, description, requested_at,
          planned_status, reason, due_at, held
        )
        values (
          ${refund.endToEndId}, ${refund.returnId}, ${refund.id}, ${refund.amountCents}::bigint,
          ${refund.nature}, ${refund.description}, ${refund.requestedAt}::timestamptz,
          ${plan.status}, ${plan.reason},
          now_() + ${plan.endsInMs}::int * interval '1 ms',
          ${plan.endsInMs === null}::boolean
        )`,
    ),
  );
}

/** A return that is done as soon as it is known. */
export type DoneReturn = Pick<PixReturn, 'returnId' | 'id' | 'amountCents' | 'nature'> & {
  endToEndId: string;
  disputeId: string | null;
  settledAt: Date;
};

/** Stores a return that is done, of a Pix that the transaction holds, with its journal entry and notices. */
export async function insertDoneReturn(
  tx: Transaction,
  done: DoneReturn,
  announce: Announcement,
): Promise<void> {
  await tx.query(
    named(
      'return_insert_done',
      sql`
        with ${JOURNAL_GATE},
        returned as (
          insert into received_returns (
            end_to_end_id, return_id, id, amount, nature, dispute_id, requested_at, settled_at, status
          )
          select
            ${done.endToEndId}, ${done.returnId}, ${done.id}, ${done.amountCents}::bigint,
            ${done.nature}, ${done.disputeId}::uuid, ${done.settledAt}::timestamptz,
            ${done.settledAt}::timestamptz, 'DEVOLVIDO'
          from gate
          returning end_to_end_id, amount, nature
        ),
        entry as (
          insert into journal (kind, txid, end_to_end_id, amount, natureza)
          select 'returned', txid, end_to_end_id, returned.amount, returned.nature
          from returned
          join received_pix using (end_to_end_id)
        ),
        ${queueCallbacks([announce])}
        select from queued`,
    ),
  );
}

export type DueRefund = {
  returnId: string;
  endToEndId: string;
  plannedStatus: Exclude<ReturnStatus, 'EM_PROCESSAMENTO'>;
  /** Database time of the read, as it is stored. */
  readAt: Date;
};

/**
 * Takes refunds that are due until the end of the transaction, oldest first; another process skips them, and
 * they are due again if this one dies. The journal's gate comes before the row locks, as everywhere. Index
 * `received_returns_due_at`.
 */
export async function claimDueRefunds(tx: Transaction, limit: number): Promise<DueRefund[]> {
  return await tx.query<DueRefund>(
    named(
      'refunds_claim_due',
      sql`
        with ${JOURNAL_GATE}
        select
          return_id as "returnId", end_to_end_id as "endToEndId",
          planned_status as "plannedStatus", now_()::timestamptz(3) as "readAt"
        from received_returns
        cross join gate
        where due_at <= (select now_())
        order by due_at
        limit ${limit}::int
        for update of received_returns skip locked`,
    ),
  );
}

/** Ends refunds that the transaction holds as planned, with their journal entries and notices: one statement. */
export async function storeRefundEndings(
  tx: Transaction,
  due: readonly DueRefund[],
  announce: Announcement,
): Promise<void> {
  await tx.query(
    named(
      'refunds_end',
      sql`
        with ${JOURNAL_GATE},
        ended as (
          update received_returns
          set status = planned_status,
              settled_at = case when planned_status = 'DEVOLVIDO' then ending.at end,
              due_at = null,
              held = false
          from unnest(
            ${due.map(({ returnId }) => returnId)}::text[],
            ${due.map(({ readAt }) => readAt.toISOString())}::timestamptz[]
          ) as ending (return_id, at)
          cross join gate
          where received_returns.return_id = ending.return_id
          returning end_to_end_id, number, amount, nature, status
        ),
        entry as (
          insert into journal (kind, txid, end_to_end_id, amount, natureza)
          select 'returned', txid, end_to_end_id, ended.amount, nature
          from ended
          join received_pix using (end_to_end_id)
          where ended.status = 'DEVOLVIDO'
          order by number
        ),
        ${queueCallbacks([announce])}
        select from queued`,
    ),
  );
}

/** Releases what a fault script has kept from ending, except for the refunds that some filter still speaks of. */
export async function releaseHeldRefunds(db: Queryable, heldBack: readonly Only[]): Promise<void> {
  await db.query(
    named(
      'refunds_release_held',
      sql`update received_returns set held = false, due_at = now_()
        where held and not exists (
          select from jsonb_to_recordset(${JSON.stringify(heldBack)}::jsonb)
            as held_back (txid text, pix_key text, debtor text)
          join received_pix on received_pix.end_to_end_id = received_returns.end_to_end_id
          left join charges on charges.txid = received_pix.txid
          where coalesce(held_back.txid = received_pix.txid, held_back.txid is null)
            and coalesce(held_back.pix_key = received_pix.pix_key, held_back.pix_key is null)
            and coalesce(held_back.debtor = charges.debtor ->> 'nome', held_back.debtor is null)
        )`,
    ),
  );
}
