import assert from 'node:assert/strict';

import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import type { Cents } from '@pixmesh/kernel/money';
import { appendBatch, type MessagesOfChange } from '@pixmesh/postgres/batched-messages';
import { countMoves } from '@pixmesh/postgres/count-moves';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { byId, type ChangeOfCharge } from './by-id.ts';
import { chargeEvents } from './charge-events.ts';
import type { ChargeRow, StoredStatus } from './charge-row.ts';
import { CHARGES_MOVED } from './charge-metrics.ts';
import { type Cause, mayMove } from './transitions.ts';

/** What a transition writes; its events are numbered by the counter that moves with it. */
export type Transition = {
  from: ChargeRow;
  /** The same as before where only its money moved. */
  status: StoredStatus;
  cause: Cause;
  /** The id or text that explains the cause, for its history. */
  detail?: string | null;
  brCode?: string | null;
  failureReason?: string | null;
  paidAt?: Date | null;
  endToEndId?: string | null;
  refundedAmount?: Cents;
  /** Where the move follows from this count of calls without an answer, which another call would change. */
  unansweredCalls?: number;
  /** Numbered on from the charge's counter: of the charge itself and of its disputes. */
  events: readonly OutboundEvent[];
  /** Ledger commands that belong to the change. */
  commands?: readonly OutboundEvent[];
  /**
   * Milliseconds until the next routine check, null for none; `requested` for a check before all routine ones, which
   * the caller wakes; `kept` where no check of this charge ends with it.
   */
  checkInMs: number | null | 'requested' | 'kept';
};

/** A transition whose events are those of the charge alone. */
export type AnnouncedMove = Omit<Transition, 'events'>;

/** Moves that stand alone: those that come together share a statement and its commit. */
export type ChargeMoves = WriteBatcher<Move, boolean>;

export function createChargeMoves(db: Queryable): ChargeMoves {
  return createWriteBatcher((moves) => moveCharges(db, moves));
}

/** Moves a charge by itself and wakes the outbox. Returns what `announceMoveIn` does. */
export async function announceMove(
  { moves, receiver, wakeOutbox }: { moves: ChargeMoves; receiver: Receiver; wakeOutbox(): void },
  change: AnnouncedMove,
  types: readonly ChargeEventType[],
): Promise<ChargeRow | null> {
  const { after, move } = announced(change, types, receiver);
  if (!(await moves.submit(move))) return null;
  wakeOutbox();
  return after;
}

/**
 * Moves a charge within a transaction and announces it with the state right after the move. Returns the charge as it
 * stands then; null where it has moved since it was read, and nothing was written.
 */
export async function announceMoveIn(
  { db, receiver }: { db: Transaction; receiver: Receiver },
  change: AnnouncedMove,
  types: readonly ChargeEventType[],
): Promise<ChargeRow | null> {
  const { after, move } = announced(change, types, receiver);
  const [isMoved] = await moveCharges(db, [move]);
  return isMoved === true ? after : null;
}

/** A move with its events, and the charge as it stands once it is made. */
function announced(
  change: AnnouncedMove,
  types: readonly ChargeEventType[],
  receiver: Receiver,
): { move: Move; after: ChargeRow } {
  const { from } = change;
  const moved: ChargeRow = {
    ...from,
    status: change.status,
    brCode: change.brCode ?? from.brCode,
    failureReason: change.failureReason ?? from.failureReason,
    paidAt: change.paidAt ?? from.paidAt,
    endToEndId: change.endToEndId ?? from.endToEndId,
    refundedAmount: change.refundedAmount ?? from.refundedAmount,
  };
  const events = chargeEvents(moved, types, receiver);
  const after = {
    ...moved,
    version: from.version + 1,
    eventSequence: from.eventSequence + events.length,
  };
  return { move: toMove({ ...change, events }), after };
}

/**
 * Moves one charge. False when it has moved since it was read, or another call has been counted: nothing is written
 * then.
 */
export async function moveCharge(db: Queryable, change: Transition): Promise<boolean> {
  const [isMoved = false] = await moveCharges(db, [toMove(change)]);
  return isMoved;
}

/** A transition on its way to the database, with the trace that asked for it. */
type Move = Transition & { traceparent: string | null };

function toMove(change: Transition): Move {
  const { from, status } = change;
  assert(from.status === status || mayMove(from, status), 'no such transition');
  return { ...change, traceparent: currentTraceParent() };
}

/**
 * Moves charges, each with its events and their place in the queue, in one statement. Returns for each whether it was
 * moved: nothing of a change is written where the charge has moved since it was read, or another call has been counted.
 * The array of ids keeps the plan to look-ups by key: a join alone, planned while the table was small, reads all of it.
 */
async function moveCharges(db: Queryable, moves: readonly Move[]): Promise<boolean[]> {
  const rows = await db.query<{ place: number }>(
    named(
      'move_charges',
      sql`
        with change as (
          select *
          from json_to_recordset(${JSON.stringify(byId(moves.map(toChange)))}::json) as change (
            place int, id uuid, version int, from_status text, status text, cause text, detail text, br_code text,
            failure_reason text, paid_at timestamptz, end_to_end_id text, refunded_amount bigint,
            unanswered_puts int, events int, ends_check boolean, is_requested boolean, check_in_ms float8
          )
        ),
        moved as (
          update charges
          set status = change.status,
              br_code = coalesce(change.br_code, charges.br_code),
              failure_reason = coalesce(change.failure_reason, charges.failure_reason),
              paid_at = coalesce(change.paid_at, charges.paid_at),
              end_to_end_id = coalesce(change.end_to_end_id, charges.end_to_end_id),
              refunded_amount = coalesce(change.refunded_amount, charges.refunded_amount),
              uncounted_refusal = null,
              last_put_error = null,
              last_check_at = null,
              last_check_answer = null,
              version = charges.version + 1,
              event_sequence = event_sequence + change.events,
              check_at = case
                when is_requested then '-infinity'
                when not ends_check or check_at = '-infinity' then check_at
                else date_trunc('milliseconds', now()) + check_in_ms * interval '1 ms'
              end,
              checks = case when ends_check then 0 else checks end,
              lease_token = case when ends_check then null else lease_token end,
              lease_until = case when ends_check then null else lease_until end
          from change
          where charges.id = any(${moves.map(({ from }) => from.id)}::uuid[])
            and charges.id = change.id and charges.version = change.version
            and charges.unanswered_puts = coalesce(change.unanswered_puts, charges.unanswered_puts)
          returning change.place, charges.id, charges.version, change.from_status, change.status as to_status, cause, detail
        ),
        history as (
          insert into charge_history (charge_id, version, from_status, to_status, cause, detail)
          select id, version, from_status, to_status, cause, detail from moved
        ),
        ${appendBatch(sql`select place from moved`, moves.map(toMessages))}
        select place from moved`,
    ),
  );
  const moved = new Set(rows.map(({ place }) => place));
  const made = moves.filter((_move, place) => moved.has(place));
  countMoves(db, made, CHARGES_MOVED);
  return moves.map((_move, place) => moved.has(place));
}

function toChange(move: Move, place: number): ChangeOfCharge {
  const { from, checkInMs } = move;
  return {
    place,
    id: from.id,
    version: from.version,
    from_status: from.status,
    status: move.status,
    cause: move.cause,
    detail: move.detail,
    br_code: move.brCode,
    failure_reason: move.failureReason,
    paid_at: move.paidAt,
    end_to_end_id: move.endToEndId,
    refunded_amount: move.refundedAmount?.toString(),
    unanswered_puts: move.unansweredCalls,
    events: move.events.length,
    ends_check: checkInMs !== 'kept',
    is_requested: checkInMs === 'requested',
    check_in_ms: typeof checkInMs === 'number' ? checkInMs : null,
  };
}

function toMessages({ events, commands = [], traceparent }: Move, place: number): MessagesOfChange {
  return { place, messages: [...events, ...commands], traceparent };
}
