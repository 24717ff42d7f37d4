import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import { JOURNAL_GATE, JOURNAL_MOMENT } from '#journal/journal.sql.ts';

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

type StoredOrder = { requestedAt: Date };

/** Orders that come together share a statement and its commit. Null where the idEnvio is taken. */
export type NewSends = WriteBatcher<NewSend, StoredOrder | null>;

export function createNewSends(db: Queryable): NewSends {
  return createWriteBatcher((sends) => insertSends(db, sends));
}

/**
 * Stores orders and their journal entries in one statement; null for one whose idEnvio is taken, also by one before it.
 */
export async function insertSends(
  db: Queryable,
  sends: readonly NewSend[],
): Promise<(StoredOrder | null)[]> {
  const rows = await db.query<StoredOrder & { endToEndId: string }>(
    named(
      'sends_insert',
      sql`
        with ${JOURNAL_GATE},
        ${JOURNAL_MOMENT},
        stored as (
          insert into sends (
            end_to_end_id, id_envio, amount, pix_key, payer_text, recipient, requested_at,
            planned_status, error, planned_returns, due_at, held
          )
          select
            end_to_end_id, id_envio, amount, pix_key, payer_text, recipient, coalesce(requested_at, moment.at),
            planned_status, error, planned_returns, moment.at + settles_in_ms * interval '1 ms', settles_in_ms is null
          from json_to_recordset(${JSON.stringify(sends.map(toRecord))}::json) as send (
            end_to_end_id text, id_envio text, amount bigint, pix_key text, payer_text text, recipient jsonb,
            requested_at timestamptz, planned_status text, error jsonb, planned_returns bigint[], settles_in_ms integer
          )
          cross join moment
          on conflict (id_envio) do nothing
          returning id_envio, end_to_end_id, amount, requested_at
        ),
        entry as (
          insert into journal (kind, id_envio, end_to_end_id, amount)
          select 'sent', id_envio, end_to_end_id, amount
          from stored
        )
        select end_to_end_id as "endToEndId", requested_at as "requestedAt"
        from stored`,
    ),
  );
  // By the end-to-end id, which no two attempts share: two that came together may have one idEnvio.
  const stored = new Map(rows.map(({ endToEndId, requestedAt }) => [endToEndId, { requestedAt }]));
  return sends.map(({ endToEndId }) => stored.get(endToEndId) ?? null);
}

function toRecord({ plan, ...send }: NewSend): object {
  return {
    end_to_end_id: send.endToEndId,
    id_envio: send.idEnvio,
    amount: send.amountCents.toString(),
    pix_key: send.pixKey,
    payer_text: send.payerText,
    recipient: send.recipient,
    requested_at: send.requestedAt,
    planned_status: plan.error === null ? 'REALIZADO' : 'NAO_REALIZADO',
    error: plan.error,
    planned_returns: plan.returns.map(String),
    settles_in_ms: plan.settlesInMs,
  };
}
