import type { Acquirer, AcquirerCharge, Lookup } from '@pixmesh/acquirer/acquirer';
import { type AnswerWord, toAnswerWord } from '@pixmesh/acquirer/describe-answer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { releaseCharge, requestCheck } from '#charge/charge-checks.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';

import {
  applyProviderState,
  type ApplyStateDeps,
  type StateApplied,
} from './apply-provider-state.ts';

/** A call of ours that was lost may still have its effect until the charge would have expired, and a little longer. */
const LATE_TRACE_MS = 3_600_000;
/** The longest between two checks of a charge that has expired: as long as a Pix can be refunded (decision 76). */
const EXPIRED_CHECK_MS_MAX = 90 * 86_400_000;

export type CheckChargeDeps = ApplyStateDeps & {
  acquirer: Pick<Acquirer, 'getCharge' | 'cancelCharge'>;
  processingChecks: CheckPeriods;
  pendingChecks: CheckPeriods;
  wakeStatusChecks(): void;
};

/**
 * One status check of a leased charge that is issued: whatever has happened to it at the acquirer is applied, and the
 * next check is scheduled. A callback only ever leads here (decisions 211–213). Returns what the acquirer said.
 */
export async function checkChargeStatus(
  deps: CheckChargeDeps,
  charge: ChargeRow,
): Promise<AnswerWord> {
  const { id, accountId } = charge;
  const found = await deps.acquirer.getCharge(toAcquirerId(id), { accountId });
  const next = await applyAnswer(deps, charge, found);
  const answer = toAnswerWord(found);
  if (next === 'ended') return answer;
  // What moved it may have known less: this check is requested again.
  if (next === 'moved') {
    await requestCheck(deps.db, charge.id, null);
    deps.wakeStatusChecks();
  }
  await releaseCharge(deps.db, charge, { answer, nextInMs: nextCheckInMs(deps, charge, next) });
  return answer;
}

async function applyAnswer(
  deps: CheckChargeDeps,
  charge: ChargeRow,
  found: Lookup<AcquirerCharge>,
): Promise<StateApplied> {
  if (found.kind === 'found') return await applyProviderState(deps, charge, found.value);
  // Repeated soon even where no routine check is due: this one may have been requested.
  if (found.kind === 'unknown') return 'soon';
  if (charge.status === 'failed') {
    const mayTurnUpMs = charge.expiresAt.getTime() + LATE_TRACE_MS - charge.readAt.getTime();
    return mayTurnUpMs > 0 ? 'routine' : 'rest';
  }
  deps.logger.error({ charge_id: charge.id }, 'issued charge not found at the acquirer');
  return charge.status === 'pending' ? 'unpaid' : 'rest';
}

/** Null: only when requested. */
function nextCheckInMs(
  deps: CheckChargeDeps,
  charge: ChargeRow,
  next: Exclude<StateApplied, 'ended'>,
): number | null {
  const { checks, expiresAt, readAt } = charge;
  switch (next) {
    case 'moved':
      return 0;
    case 'soon':
      return nextCheckMs(checks, deps.processingChecks);
    case 'routine':
      return nextCheckMs(checks, deps.pendingChecks);
    case 'unpaid': {
      // The longer ago a charge has expired, the more rarely it is checked: a late Pix is announced, and the list of
      // received Pix shows it, so that those that are never paid do not fill the queue.
      const expiredMs = Math.min(readAt.getTime() - expiresAt.getTime(), EXPIRED_CHECK_MS_MAX);
      return Math.max(nextCheckMs(checks, deps.pendingChecks), expiredMs);
    }
    case 'rest':
      return null;
    default:
      return assertNever(next);
  }
}
