import type { TimelineEntry } from '@pixmesh/contracts/internal/timeline';
import type { PastEvent } from '@pixmesh/postgres/event-history';

import type { PayoutRow } from '#payouts/payout-row.ts';

import type { ResolutionSteps, ReturnSteps, SendingSteps } from './payout-steps.sql.ts';

/** What is read of one payout. */
export type PayoutSteps = {
  payout: Pick<PayoutRow, 'id' | 'status' | 'approvedBy' | 'pendingReason' | 'createdAt'>;
  sending: SendingSteps;
  events: readonly PastEvent[];
  returns: readonly ReturnSteps[];
  resolutions: readonly ResolutionSteps[];
};

type Details = TimelineEntry['details'];

/** All steps of a payout, in the order in which they follow from each other. */
export function toTimelineEntries(steps: PayoutSteps): TimelineEntry[] {
  const { payout, events } = steps;
  return [
    ...stateEntries(steps),
    ...steps.returns.map((returned) => returnEntry(payout.id, returned)),
    ...steps.resolutions.flatMap((resolution) => resolutionEntries(payout.id, resolution)),
    ...events.map((event) => eventEntry(payout.id, event)),
  ];
}

/**
 * A payout has no history of its own: what is known of its states is its row, and the status in each of its events.
 * Every change of status is announced but one, the approval.
 */
function stateEntries(steps: PayoutSteps): TimelineEntry[] {
  const { payout, events } = steps;
  const { pendingReason: reason } = payout;
  const entries = [stateEntry(payout.id, payout.createdAt, { from: 'new', to: 'intent' })];
  let from = 'intent';
  for (const { status: to, at, sequence } of events) {
    if (to === null || to === from) continue;
    const approval = approvalEntry(steps, from);
    if (approval !== null) {
      entries.push(approval);
      from = 'processing';
    }
    const why = to === 'pending' && reason !== null ? { reason } : {};
    if (to !== from) entries.push(stateEntry(payout.id, at, { from, to }, { sequence, ...why }));
    from = to;
  }
  const approval = payout.status === from ? null : approvalEntry(steps, from);
  return approval === null ? entries : [...entries, approval];
}

/**
 * Nothing keeps when a payout was approved: not later than a sender took it up, or may since. The audit log has the
 * call itself.
 */
function approvalEntry({ payout, sending }: PayoutSteps, from: string): TimelineEntry | null {
  const at = sending.first_put_at ?? sending.send_at;
  if (from !== 'pending' || payout.approvedBy === null || at === null) return null;
  const details = { approved_by: payout.approvedBy, is_latest_possible_time: true };
  return stateEntry(payout.id, at, { from, to: 'processing' }, details);
}

function returnEntry(payoutId: string, returned: ReturnSteps): TimelineEntry {
  const { end_to_end_id: pix, return_id: returnId, recorded_at: at } = returned;
  const details = { amount: Number(returned.amount), end_to_end_id: pix, return_id: returnId };
  return entryAt(at, {
    id: `${pix}/${returnId}`,
    resource_id: payoutId,
    what: 'returned',
    details,
  });
}

function resolutionEntries(payoutId: string, resolution: ResolutionSteps): TimelineEntry[] {
  const { id, created_at: decidedAt, completed_at: completedAt } = resolution;
  const step = { id, resource_id: payoutId, details: { amount: Number(resolution.amount) } };
  const decided = entryAt(decidedAt, { ...step, what: 'suspense: accept decided' });
  return completedAt === null
    ? [decided]
    : [decided, entryAt(completedAt, { ...step, what: 'suspense: accept completed' })];
}

function eventEntry(payoutId: string, event: PastEvent): TimelineEntry {
  const { id, at, type, sequence, status } = event;
  const details = { sequence, status };
  return { ...entryAt(at, { id, resource_id: payoutId, what: type, details }), kind: 'event' };
}

function stateEntry(
  payoutId: string,
  at: Date,
  ...[change, details = {}]: [change: { from: string; to: string }, details?: Details]
): TimelineEntry {
  const { from, to } = change;
  const id = `${payoutId}/${to}`;
  return entryAt(at, { id, resource_id: payoutId, what: `${from} → ${to}`, details });
}

function entryAt(
  at: Date,
  step: Pick<TimelineEntry, 'id' | 'resource_id' | 'what' | 'details'>,
): TimelineEntry {
  return { at: at.toISOString(), kind: 'state', service: 'payouts', ...step };
}
