import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { Announcement } from '#callbacks/announce.ts';
import { queueCallbacks } from '#callbacks/callbacks.sql.ts';
import type { Only } from '#faults/fault-script.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';

import type { SendError, StoredReturn } from './send-resource.ts';

export type SendEnding = {
  endToEndId: string;
  status: 'REALIZADO' | 'NAO_REALIZADO';
  /** Of a rejection; what was planned stays where it is null. */
  error: SendError | null;
};

export type NewReturn = Omit<StoredReturn, 'returnedAt'> & { endToEndId: string };

/** From one planned step of an order to the next. */
export const NEXT_STEP_MS = 50;

/** Ends orders that the transaction holds, with their journal entries and notices: one statement. */
export async function storeEndings(
  tx: Transaction,
  endings: readonly SendEnding[],
  announce: Announcement,
): Promise<void> {
  await tx.query(
    named(
      'sends_end',
      sql`
        with ${JOURNAL_GATE},
        ended as (
          update sends
          set status = ending.status,
              error = coalesce(ending.error::jsonb, sends.error),
              settled_at = case when ending.status = 'REALIZADO' then now_() end,
              due_at = case
                when ending.status = 'REALIZADO' and planned_returns <> '{}'
                then now_() + ${NEXT_STEP_MS}::int * interval '1 ms'
              end,
              held = false
          from unnest(
            ${endings.map(({ endToEndId }) => endToEndId)}::text[],
            ${endings.map(({ status }) => status)}::text[],
            ${endings.map(({ error }) => error && JSON.stringify(error))}::text[]
          ) as ending (end_to_end_id, status, error)
          cross join gate
          where sends.end_to_end_id = ending.end_to_end_id
          returning sends.id_envio, sends.end_to_end_id, sends.amount, sends.status
        ),
        entry as (
          insert into journal (kind, id_envio, end_to_end_id, amount)
          select
            case status when 'REALIZADO' then 'settled' else 'rejected' end,
            id_envio, end_to_end_id, amount
          from ended
        ),
        ${queueCallbacks([announce])}
        select from queued`,
    ),
  );
}

/**
 * Stores money that came back, with its journal entries and notices: one statement. A planned return is struck
 * off its order, and the next one becomes due.
 */
export async function storeReturns(
  tx: Transaction,
  returns: readonly NewReturn[],
  announce: Announcement & { planned: boolean },
): Promise<void> {
  await tx.query(
    named(
      'send_returns_store',
      sql`
        with ${JOURNAL_GATE},
        returned as (
          insert into send_returns (end_to_end_id, return_id, id, amount, nature)
          select item.*
          from unnest(
            ${returns.map(({ endToEndId }) => endToEndId)}::text[],
            ${returns.map(({ returnId }) => returnId)}::text[],
            ${returns.map(({ id }) => id)}::text[],
            ${returns.map(({ amountCents }) => String(amountCents))}::bigint[],
            ${returns.map(({ nature }) => nature)}::text[]
          ) as item (end_to_end_id, return_id, id, amount, nature)
          cross join gate
          returning end_to_end_id, amount, nature
        ),
        struck as (
          update sends
          set planned_returns = planned_returns[2:],
              due_at = case
                when cardinality(planned_returns) > 1
                then now_() + ${NEXT_STEP_MS}::int * interval '1 ms'
              end
          from returned
          where ${announce.planned}::boolean and sends.end_to_end_id = returned.end_to_end_id
        ),
        entry as (
          insert into journal (kind, id_envio, end_to_end_id, amount, natureza)
          select 'returned', id_envio, end_to_end_id, returned.amount, returned.nature
          from returned
          join sends using (end_to_end_id)
        ),
        ${queueCallbacks([announce])}
        select from queued`,
    ),
  );
}

/** Releases what a fault script has kept from settling, except for the orders that some filter still speaks of. */
export async function releaseHeldSends(db: Queryable, heldBack: readonly Only[]): Promise<void> {
  await db.query(
    named(
      'sends_release_held',
      sql`update sends set held = false, due_at = now_()
        where held and not exists (
          select from jsonb_to_recordset(${JSON.stringify(heldBack)}::jsonb) as held_back (id_envio text, pix_key text)
          where coalesce(held_back.id_envio = sends.id_envio, held_back.id_envio is null)
            and coalesce(held_back.pix_key = sends.recipient ->> 'chave', held_back.pix_key is null)
        )`,
    ),
  );
}
