import { decideNotFound } from '@pixmesh/acquirer-orders/order-calls';

import type { ChargeRow } from '#charge/charge-row.ts';

/** Less than this left to pay: the charge is not issued again (decision 58). */
const REMAINING_SECONDS_MIN = 60;
/**
 * A charge that was never sent to the acquirer may be sent so late with the least time that one can have: the acquirer's
 * expiry then comes as much later than ours, which decision 69 allows for.
 */
const FIRST_CALL_LATE_SECONDS_MAX = 10;

export const ISSUANCE_TIMEOUT = 'issuance_timeout: the acquirer never confirmed the charge';
export const REMOVED_BY_ACQUIRER = 'removed_by_acquirer: the acquirer removed the charge';

type Limits = { acquirerTimeoutMs: number; giveUpMs: number };

export type NextStep =
  | { kind: 'check_later' }
  | { kind: 'issue_again'; expiresInSeconds: number }
  | { kind: 'fail'; reason: string };

/**
 * What follows when the acquirer does not know a charge in `processing` (decisions 58, 62, 63).
 * An unknown outcome never becomes a failure by itself: only a 404 at least one exchange after the last call,
 * with too little time left or seen for long enough, ends the charge.
 */
export function decideAfterNotFound(charge: ChargeRow, limits: Limits): NextStep {
  const step = decideNotFound(charge, {
    callMs: limits.acquirerTimeoutMs,
    refusalWaitMs: limits.giveUpMs,
  });
  if (step.kind !== 'order_again') return step;
  const firstNotFoundAt = charge.firstNotFoundAt ?? charge.readAt;
  const notFoundForMs = charge.readAt.getTime() - firstNotFoundAt.getTime();
  if (notFoundForMs >= limits.giveUpMs) return { kind: 'fail', reason: ISSUANCE_TIMEOUT };
  const remainingSeconds = Math.floor(
    (charge.expiresAt.getTime() - charge.readAt.getTime()) / 1000,
  );
  const lateSecondsMax = charge.lastCallAt === null ? FIRST_CALL_LATE_SECONDS_MAX : 0;
  if (remainingSeconds < REMAINING_SECONDS_MIN - lateSecondsMax) {
    return { kind: 'fail', reason: ISSUANCE_TIMEOUT };
  }
  const expiresInSeconds = Math.max(remainingSeconds, REMAINING_SECONDS_MIN);
  return { kind: 'issue_again', expiresInSeconds };
}
