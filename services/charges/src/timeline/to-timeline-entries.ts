import type { TimelineEntry } from '@pixmesh/contracts/internal/timeline';
import type { PastEvent } from '@pixmesh/postgres/event-history';

import type { Cause } from '#charge/transitions.ts';

import type { ChargeMove, DisputeSteps, RefundSteps, ResolutionSteps } from './charge-steps.sql.ts';

/** What is read of one charge, in the order in which it happened. */
export type ChargeSteps = {
  chargeId: string;
  moves: readonly ChargeMove[];
  events: readonly PastEvent[];
  refunds: readonly RefundSteps[];
  disputes: readonly DisputeSteps[];
  resolutions: readonly ResolutionSteps[];
};

type Step = Pick<TimelineEntry, 'id' | 'resource_id' | 'what' | 'details'>;

/** An event and its move are one commit, which takes no longer. */
const COMMIT_MS_MAX = 60_000;

/**
 * Causes whose detail is an id: a Pix, one of its returns, a refund, a dispute. Other details are texts of the
 * acquirer.
 */
const CAUSES_WITH_ID: ReadonlySet<Cause> = new Set<Cause>([
  'pix_accepted',
  'pix_suspended',
  'pix_credited',
  'refund_completed',
  'returned_at_acquirer',
  'dispute_opened',
  'dispute_under_review',
  'dispute_message',
  'dispute_won',
  'dispute_lost',
  'block_ended',
  'med_return',
]);

const DISPUTE_MOVES: Partial<Record<Cause, string>> = {
  dispute_opened: 'dispute opened',
  dispute_under_review: 'dispute under review',
  dispute_won: 'dispute won',
  dispute_lost: 'dispute lost',
};

/** All steps of a charge, its refunds and disputes. What led to a move of the charge stands before it. */
export function toTimelineEntries(steps: ChargeSteps): TimelineEntry[] {
  const { chargeId, moves, refunds, resolutions } = steps;
  return [
    ...refunds.flatMap(refundEntries),
    ...resolutions.flatMap((resolution) => resolutionEntries(chargeId, resolution)),
    ...disputeEntries(steps),
    ...moves.map((move) => moveEntry(chargeId, move)),
    ...steps.events.map((event) => eventEntry(steps, event)),
  ];
}

/** A move that kept the status is shown by its cause: money moved, or a dispute did. */
function moveEntry(chargeId: string, move: ChargeMove): TimelineEntry {
  const { version, at, from_status: from, to_status: to, cause, detail } = move;
  return stateAt(at, {
    id: `${chargeId}/${version}`,
    resource_id: chargeId,
    what: from === to ? `${to}: ${cause}` : `${from ?? 'new'} → ${to}`,
    details: { version, cause, detail: CAUSES_WITH_ID.has(cause) ? detail : null },
  });
}

function refundEntries(refund: RefundSteps): TimelineEntry[] {
  const { id, status, created_at: requestedAt, ended_at: endedAt } = refund;
  const step = { id, resource_id: id, details: { amount: Number(refund.amount) } };
  const requested = stateAt(requestedAt, { ...step, what: 'refund requested' });
  return endedAt === null
    ? [requested]
    : [requested, stateAt(endedAt, { ...step, what: `refund ${status}` })];
}

/** The history of its charge shows when a dispute changed: its own row has the last state only. */
function disputeEntries({ moves, disputes }: ChargeSteps): TimelineEntry[] {
  const amounts = new Map<string, number>(disputes.map(({ id, amount }) => [id, Number(amount)]));
  return moves.flatMap(({ at, cause, detail: id, version }) => {
    const what = DISPUTE_MOVES[cause];
    const amount = amounts.get(id ?? '');
    if (what === undefined || id === null || amount === undefined) return [];
    return [stateAt(at, { id: `${id}/${version}`, resource_id: id, what, details: { amount } })];
  });
}

function resolutionEntries(chargeId: string, resolution: ResolutionSteps): TimelineEntry[] {
  const { id, action, status, created_at: decidedAt, completed_at: completedAt } = resolution;
  const details = { action, amount: Number(resolution.amount) };
  const step = { id, resource_id: chargeId, details };
  const decided = stateAt(decidedAt, { ...step, what: `suspense: ${action} decided` });
  return completedAt === null
    ? [decided]
    : [decided, stateAt(completedAt, { ...step, what: `suspense: ${action} ${status}` })];
}

/**
 * An event is made moments before its move is written, by another clock, and follows from it: it never stands before
 * it.
 */
function eventEntry(steps: ChargeSteps, event: PastEvent): TimelineEntry {
  const { id, type, sequence, resourceId, status } = event;
  const moveMs = moveOf(steps, event)?.at.getTime() ?? 0;
  const ownMs = event.at.getTime();
  const isLate = moveMs > ownMs && moveMs - ownMs <= COMMIT_MS_MAX;
  return {
    at: new Date(isLate ? moveMs : ownMs).toISOString(),
    kind: 'event',
    service: 'charges',
    id,
    resource_id: resourceId ?? steps.chargeId,
    what: type,
    details: { sequence, status },
  };
}

/** Of the moves that may have announced an event, the nearest. */
function moveOf({ chargeId, moves }: ChargeSteps, event: PastEvent): ChargeMove | undefined {
  const isOfCharge = event.resourceId === chargeId;
  const possible = moves.filter((move) =>
    isOfCharge
      ? move.to_status === event.status && move.from_status !== move.to_status
      : move.detail === event.resourceId,
  );
  const distance = ({ at }: ChargeMove) => Math.abs(at.getTime() - event.at.getTime());
  return possible.toSorted((one, other) => distance(one) - distance(other))[0];
}

function stateAt(at: Date, step: Step): TimelineEntry {
  return { at: at.toISOString(), kind: 'state', service: 'charges', ...step };
}
