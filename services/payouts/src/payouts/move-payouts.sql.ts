import assert from 'node:assert/strict';

import type { OperatorId, PayoutId } from '@pixmesh/kernel/ids';
import { appendBatch, type MessagesOfChange } from '@pixmesh/postgres/batched-messages';
import { countMoves } from '@pixmesh/postgres/count-moves';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { SOUGHT_WITHIN_MS } from './check-time.ts';
import type { PayoutRow, StoredStatus } from './payout-row.ts';
import { findPayouts } from './payouts.sql.ts';
import { PAYOUTS_MOVED } from './payout-metrics.ts';
import { mayMove } from './transitions.ts';

/**
 * What a transition writes. Its events, catalogue events and ledger commands alike, commit with it; only those
 * with a sequence move the payout's counter.
 */
export type Transition = {
  from: PayoutRow;
  /** The same as before where only what is known of its money changes. */
  status: Exclude<StoredStatus, 'intent'>;
  /** Set by approval: who, and that a sender may take it up from now on, in whose trace. */
  approval?: { approvedBy: OperatorId; traceparent: string | null };
  /** Set by the acquirer's acceptance, which answers every call of the payout so far. */
  acceptance?: { endToEndId: string; processedAt: Date };
  /**
   * The end ordered from the ledger; where it is absent, one that was ordered stands for as long as it is processing.
   */
  ending?: { kind: 'settle' | 'release'; reason: string | null };
  failureReason?: string | null;
  contradiction?: string;
  events: readonly OutboundEvent[];
  /**
   * Milliseconds until the next routine check; null for none. `kept`: the transition knows nothing of the acquirer,
   * so a check that is due or under way stays what it is.
   */
  checkInMs: number | null | 'kept';
};

/** A transition on its way to the database, with the trace that asked for it. */
type Move = Transition & { traceparent: string | null };

/** Moves that come together share a statement and its commit, and so do the reads before them. */
export type PayoutMoves = {
  /** The payout as it is now. Primary key read. */
  find(id: PayoutId): Promise<PayoutRow | null>;
  /** False when the payout has moved since it was read; nothing is written then. */
  move(change: Transition): Promise<boolean>;
};

export function createPayoutMoves(db: Queryable): PayoutMoves {
  const batcher: WriteBatcher<Move, boolean> = createWriteBatcher((moves) =>
    movePayouts(db, moves),
  );
  const reads: WriteBatcher<PayoutId, PayoutRow | null> = createWriteBatcher((ids) =>
    findPayouts(db, ids),
  );
  return { find: reads.submit, move: (change) => batcher.submit(toMove(change)) };
}

/** Moves one payout by itself. */
export async function movePayout(db: Queryable, change: Transition): Promise<boolean> {
  const [isMoved = false] = await movePayouts(db, [toMove(change)]);
  return isMoved;
}

function toMove(change: Transition): Move {
  const { from, status } = change;
  assert(from.status === status || mayMove(from.status, status), 'no such transition');
  return { ...change, traceparent: currentTraceParent() };
}

/**
 * Moves payouts, each with its events and their place in the queue, in one statement. Returns for each whether it was
 * moved: nothing of a change is written where the payout has moved since it was read. Whatever moves is not to be
 * sent any more, unless approval has just said so.
 *
 * A routine check that is far off is written to `due_at`, and the row is looked for earlier: what follows soon, as the
 * acquirer's callback does, then leaves `check_at` and its index as they are. So does the order of an end.
 */
async function movePayouts(db: Queryable, moves: readonly Move[]): Promise<boolean[]> {
  const rows = await db.query<{ place: number }>(
    named(
      'move_payouts',
      sql`
        with change as (
          select *
          from json_to_recordset(${JSON.stringify(moves.map(toChange))}::json) as change (
            place int, id uuid, version int, status text, events int, approved_by uuid, approval_traceparent text,
            end_to_end_id text, processed_at timestamptz, ending text, ending_reason text, failure_reason text,
            contradiction text, is_check_kept boolean, check_in_ms float8
          )
        ),
        moved as (
          update payouts
          set status = change.status,
              version = payouts.version + 1,
              event_sequence = event_sequence + change.events,
              approved_by = coalesce(change.approved_by, payouts.approved_by),
              send_at = case when change.approved_by is not null then now() end,
              check_traceparent = coalesce(change.approval_traceparent, check_traceparent),
              end_to_end_id = coalesce(change.end_to_end_id, payouts.end_to_end_id),
              processed_at = coalesce(change.processed_at, payouts.processed_at),
              unanswered_puts = case when change.end_to_end_id is null then unanswered_puts else 0 end,
              uncounted_refusal = case when change.end_to_end_id is null then uncounted_refusal end,
              ending = case when change.status = 'processing' then coalesce(change.ending, payouts.ending) end,
              ending_reason = case
                when change.status = 'processing' then coalesce(change.ending_reason, payouts.ending_reason)
              end,
              failure_reason = coalesce(change.failure_reason, payouts.failure_reason),
              contradiction = coalesce(change.contradiction, payouts.contradiction),
              last_put_error = null,
              last_check_at = null,
              last_check_answer = null,
              check_at = case
                when check_at = '-infinity' then check_at
                when is_check_kept then case when due_at = 'infinity' then null else check_at end
                when check_in_ms is not null then
                  date_trunc('milliseconds', now()) + least(check_in_ms, ${SOUGHT_WITHIN_MS}) * interval '1 ms'
                when change.status = 'processing' then check_at
              end,
              due_at = case
                when check_at = '-infinity' then null
                when is_check_kept then nullif(due_at, 'infinity')
                when check_in_ms is not null then
                  case when check_in_ms > ${SOUGHT_WITHIN_MS} then now() + check_in_ms * interval '1 ms' end
                when change.status = 'processing' and check_at is not null then 'infinity'::timestamptz
              end,
              checks = case when is_check_kept then checks else 0 end,
              lease_token = case when is_check_kept then lease_token end,
              lease_until = case when is_check_kept then lease_until end
          from change
          where payouts.id = any(${moves.map(({ from }) => from.id)}::uuid[])
            and payouts.id = change.id and payouts.version = change.version
          returning change.place
        ),
        ${appendBatch(sql`select place from moved`, moves.map(toMessages))}
        select place from moved`,
    ),
  );
  const moved = new Set(rows.map(({ place }) => place));
  const made = moves.filter((_move, place) => moved.has(place));
  countMoves(db, made, PAYOUTS_MOVED);
  return moves.map((_move, place) => moved.has(place));
}

function toChange({ from, approval, acceptance, ending, ...move }: Move, place: number): object {
  const { checkInMs } = move;
  return {
    place,
    id: from.id,
    version: from.version,
    status: move.status,
    events: move.events.filter(({ sequence }) => sequence !== null).length,
    approved_by: approval?.approvedBy,
    approval_traceparent: approval?.traceparent,
    end_to_end_id: acceptance?.endToEndId,
    processed_at: acceptance?.processedAt,
    ending: ending?.kind,
    ending_reason: ending?.reason,
    failure_reason: move.failureReason,
    contradiction: move.contradiction,
    is_check_kept: checkInMs === 'kept',
    check_in_ms: checkInMs === 'kept' ? null : checkInMs,
  };
}

function toMessages({ events, traceparent }: Move, place: number): MessagesOfChange {
  return { place, messages: events, traceparent };
}
