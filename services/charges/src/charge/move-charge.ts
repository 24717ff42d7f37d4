import assert from 'node:assert/strict';

import type { Receiver } from '@pixmesh/contracts/http/charge';
import { CHARGE_EVENTS, type ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import { nextCheck } from '@pixmesh/postgres/due-rows';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

import { toChargeResource } from './charge-resource.ts';
import type { ChargeRow, StoredStatus } from './charge-row.ts';
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
  location?: string | null;
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
  /** Milliseconds until the next routine check, null for none; `kept` where no check of this charge ends with it. */
  checkInMs: number | null | 'kept';
};

/** A transition whose events are those of the charge alone. */
export type AnnouncedMove = Omit<Transition, 'events'>;

/** Moves a charge in a commit of its own and wakes the outbox. Answers like `writeMove`. */
export async function announceMove(
  deps: { db: Queryable; receiver: Receiver; wakeOutbox(): void },
  change: AnnouncedMove,
  types: readonly ChargeEventType[],
): Promise<ChargeRow | null> {
  const after = await writeMove(deps, change, types);
  if (after !== null) deps.wakeOutbox();
  return after;
}

/**
 * Moves a charge and announces it with the state right after the move, in one statement. Answers the charge as it
 * stands then; null where it has moved since it was read, and nothing was written.
 */
export async function writeMove(
  { db, receiver }: { db: Queryable; receiver: Receiver },
  change: AnnouncedMove,
  types: readonly ChargeEventType[],
): Promise<ChargeRow | null> {
  const { from } = change;
  const after: ChargeRow = {
    ...from,
    status: change.status,
    brCode: change.brCode ?? from.brCode,
    failureReason: change.failureReason ?? from.failureReason,
    paidAt: change.paidAt ?? from.paidAt,
    endToEndId: change.endToEndId ?? from.endToEndId,
    refundedAmount: change.refundedAmount ?? from.refundedAmount,
  };
  const events = chargeEvents(after, types, receiver);
  if (!(await moveCharge(db, { ...change, events }))) return null;
  return {
    ...after,
    version: from.version + 1,
    eventSequence: from.eventSequence + events.length,
  };
}

/**
 * Catalogue events of one transition, numbered on from the row's counter, each with the state right after
 * the transition (decision 183). `after` must already carry that state.
 */
export function chargeEvents(
  after: ChargeRow,
  types: readonly ChargeEventType[],
  receiver: Receiver,
): OutboundEvent[] {
  // A snapshot shows what the transition made, even where the charge has expired since (decision 184).
  const data = toChargeResource(after, receiver, after.status);
  const occurredAt = new Date().toISOString();
  const { webhookUrl: url, webhookSealedSecret: sealed_secret } = after;
  return types.map((type, index) => {
    const sequence = after.eventSequence + index + 1;
    const place = { key: after.id, sequence };
    return outboundEvent(CHARGE_EVENTS[type], place, {
      event_id: newId(),
      type,
      version: 1,
      occurred_at: occurredAt,
      account_id: after.accountId,
      application_id: after.applicationId,
      source: after.source,
      sequence,
      destination: url === null ? null : { url, sealed_secret },
      data,
    });
  });
}

/**
 * Moves a charge, with its events and their place in the queue, in one statement. False when the charge has
 * moved since it was read, or another call has been counted: nothing is written then.
 */
export async function moveCharge(db: Queryable, change: Transition): Promise<boolean> {
  const { from, commands = [], checkInMs } = change;
  assert(from.status === change.status || mayMove(from, change.status), 'no such transition');
  const [name, check] =
    checkInMs === 'kept'
      ? (['move_charge_keeping_check', sql``] as const)
      : ([
          'move_charge_and_end_check',
          sql`, ${nextCheck(checkInMs)}, checks = 0, lease_token = null, lease_until = null`,
        ] as const);
  const rows = await db.query(
    named(
      name,
      sql`
        with moved as (
          update charges
          set status = ${change.status},
              br_code = coalesce(${change.brCode ?? null}, br_code),
              location = coalesce(${change.location ?? null}, location),
              failure_reason = coalesce(${change.failureReason ?? null}, failure_reason),
              paid_at = coalesce(${change.paidAt ?? null}, paid_at),
              end_to_end_id = coalesce(${change.endToEndId ?? null}, end_to_end_id),
              refunded_amount = coalesce(${change.refundedAmount ?? null}, refunded_amount),
              uncounted_refusal = null,
              last_put_error = null,
              last_check_at = null,
              last_check_answer = null,
              version = version + 1,
              event_sequence = event_sequence + ${change.events.length}::int
              ${check}
          where id = ${from.id} and version = ${from.version}
            and unanswered_puts = coalesce(${change.unansweredCalls ?? null}, unanswered_puts)
          returning id, version
        ),
        ${appendHistory({ ...change, from: from.status })},
        ${appendEventsAndCommands(sql`select from moved`, [...change.events, ...commands])}
        select id from moved`,
    ),
  );
  return rows.length === 1;
}

/** A CTE that writes the history of a change, for as long as the CTE `moved` returned the charge's id and version. */
export function appendHistory(change: {
  from: StoredStatus;
  status: StoredStatus;
  cause: Cause;
  detail?: string | null;
}): Statement {
  const { from, status, cause, detail = null } = change;
  return sql`
    history as (
      insert into charge_history (charge_id, version, from_status, to_status, cause, detail)
      select id, version, ${from}, ${status}, ${cause}, ${detail} from moved
    )`;
}
