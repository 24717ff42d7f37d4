import { decideNotFound, type OrderLimits } from '@pixmesh/acquirer-orders/order-calls';
import type { AcquirerPayout, Lookup } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';

import type { CheckProblem } from '#reports.ts';
import type { Contradiction } from '#payouts/ledger-commands.ts';
import type { VisiblePayout } from '#payouts/payout-row.ts';
import type { End } from '#settlement/order-end.ts';

export type CheckStep =
  | { kind: 'accept'; sent: AcquirerPayout }
  | { kind: 'order_end'; end: End }
  | { kind: 'send_again' }
  | { kind: 'contradict'; contradiction: Contradiction }
  /** Nothing to write; check again, soon where nothing definite is known yet. */
  | { kind: 'check_later'; pace: 'unknown' | 'accepted'; problem: CheckProblem | null }
  /** Nothing to write; checked again on request only. */
  | { kind: 'rest'; problem: CheckProblem | null };

const REJECTED = 'rejected: the acquirer did not carry the payout out';

/**
 * What follows from one status check of a payout (decisions 118–120, 127). Age alone never fails a
 * payout, and a final state is never left.
 */
export function decideCheck(
  payout: VisiblePayout,
  found: Lookup<AcquirerPayout>,
  limits: OrderLimits,
): CheckStep {
  switch (found.kind) {
    case 'unknown':
      // Soon even where no routine check is due: this one may have been requested.
      return later('unknown');
    case 'not_found':
      return isOpen(payout) ? decideUnsent(payout, limits) : decideEndedNotFound(payout);
    case 'found':
      return decideFound(payout, found.value);
    default:
      return assertNever(found);
  }
}

/** The acquirer has no such order, and the payout has not ended. */
function decideUnsent(payout: VisiblePayout, limits: OrderLimits): CheckStep {
  // An order that was accepted is never sent again, however sure the acquirer seems.
  if (payout.processedAt !== null) return later('accepted', 'vanished');
  const step = decideNotFound(payout, limits);
  switch (step.kind) {
    case 'check_later':
      return later('unknown');
    case 'order_again':
      return { kind: 'send_again' };
    case 'fail':
      return release(step.reason, null);
    default:
      return assertNever(step);
  }
}

/**
 * The acquirer has no such order, and the payout was never sent or its end is ordered. That end stands; only one that
 * followed an acceptance needs the order to exist.
 */
function decideEndedNotFound(payout: VisiblePayout): CheckStep {
  return rest(payout.processedAt === null ? null : 'vanished');
}

function decideFound(payout: VisiblePayout, sent: AcquirerPayout): CheckStep {
  if (payout.status === 'pending') return rest('never_sent');
  if (sent.amountCents !== payout.amount) {
    return isOpen(payout) ? later('unknown', 'other_amount') : rest('other_amount');
  }
  if (!isOpen(payout)) return decideEnded(payout, sent);
  switch (sent.status) {
    case 'processing':
      return payout.processedAt === null ? { kind: 'accept', sent } : later('accepted');
    case 'settled':
      return { kind: 'order_end', end: { kind: 'settle', sent } };
    case 'rejected':
      return release(sent.reason ?? REJECTED, sent);
    default:
      return assertNever(sent.status);
  }
}

/** The end was announced, or is ordered and cannot be called back: the acquirer confirms it or contradicts it. */
function decideEnded(payout: VisiblePayout, sent: AcquirerPayout): CheckStep {
  if (payout.contradiction !== null) return rest(null);
  if (sent.status === 'processing') return later('accepted', 'unfinished');
  const hasLeft = payout.status === 'completed' || payout.ending === 'settle';
  if (hasLeft === (sent.status === 'settled')) return rest(null);
  const contradiction = hasLeft ? 'failed_after_completed' : 'completed_after_failed';
  return { kind: 'contradict', contradiction };
}

/** Whether its end is still to be found out. */
function isOpen(payout: VisiblePayout): boolean {
  return payout.status === 'processing' && payout.ending === null;
}

function release(reason: string, sent: AcquirerPayout | null): CheckStep {
  return { kind: 'order_end', end: { kind: 'release', reason, sent } };
}

function later(pace: 'unknown' | 'accepted', problem: CheckProblem | null = null): CheckStep {
  return { kind: 'check_later', pace, problem };
}

function rest(problem: CheckProblem | null): CheckStep {
  return { kind: 'rest', problem };
}
