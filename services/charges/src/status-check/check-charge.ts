import type { Acquirer } from '@pixmesh/acquirer/client';
import { assertNever } from '@pixmesh/kernel/app-error';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charge/charge-row.ts';
import type { Issuing } from '#charge/issuing/issuing.ts';
import type { IssuingDeps } from '#charge/issuing/issuing-deps.ts';

import { applyTruth, type ApplyTruthDeps, type TruthApplied } from './apply-provider-state.ts';
import { releaseCharge, requestCheck } from '#charge/charge-checks.sql.ts';

/** A call of ours that was lost may still have its effect until the charge would have expired, and a little longer. */
const LATE_TRACE_MS = 3_600_000;
/** The longest between two looks at a charge that has expired. */
const EXPIRED_LOOK_MS_MAX = 86_400_000;

export type LookDeps = IssuingDeps & ApplyTruthDeps & { issuing: Issuing; acquirer: Acquirer };

/**
 * One look at the acquirer for a leased charge: finishes its issuing, or applies whatever has happened to it there;
 * then says when to look next. A callback only ever leads here (decisions 211–213).
 */
export async function lookAtCharge(deps: LookDeps, charge: ChargeRow): Promise<void> {
  if (charge.status === 'processing') {
    await deps.issuing.lookAt(charge);
    return;
  }
  const found = await deps.acquirer.getCharge(toAcquirerId(charge.id));
  switch (found.kind) {
    case 'unknown':
      // Looked for again soon even where no routine look is due: somebody may have asked for this one.
      return await endLook(deps, charge, 'soon');
    case 'not_found':
      return await endLook(deps, charge, afterNotFound(deps, charge));
    case 'found':
      return await endLook(deps, charge, await applyTruth(deps, charge, found.value));
    default:
      return assertNever(found);
  }
}

function afterNotFound(deps: LookDeps, charge: ChargeRow): TruthApplied {
  if (charge.status === 'failed') {
    const mayTurnUpMs = charge.expiresAt.getTime() + LATE_TRACE_MS - charge.readAt.getTime();
    return mayTurnUpMs > 0 ? 'routine' : 'rest';
  }
  deps.logger.error({ charge_id: charge.id }, 'the acquirer does not know an issued charge');
  return charge.status === 'pending' ? 'unpaid' : 'rest';
}

async function endLook(deps: LookDeps, charge: ChargeRow, next: TruthApplied): Promise<void> {
  // Whoever moved it may have known less: what this look was asked for is asked again.
  if (next === 'moved') await requestCheck(deps.db, charge.id, null);
  await releaseCharge(deps.db, charge, nextLookMs(deps, charge, next));
}

function nextLookMs(deps: LookDeps, charge: ChargeRow, next: TruthApplied): number | null {
  switch (next) {
    case 'moved':
      return 0;
    case 'soon':
      return nextCheckMs(charge.checks, deps.processingChecks);
    case 'routine':
      return nextCheckMs(charge.checks, deps.pendingChecks);
    case 'unpaid':
      return Math.max(nextCheckMs(charge.checks, deps.pendingChecks), expiredLookMs(charge));
    case 'rest':
      return null;
    default:
      return assertNever(next);
  }
}

/**
 * The longer ago a charge has expired, the more rarely it is looked at, so that those that nobody ever pays do not fill
 * the queue: a late Pix is announced, and the list of received Pix shows it.
 */
function expiredLookMs({ expiresAt, readAt }: ChargeRow): number {
  return Math.min(readAt.getTime() - expiresAt.getTime(), EXPIRED_LOOK_MS_MAX);
}
