import type { CancelOutcome } from '@pixmesh/acquirer/acquirer';
import type { Deadline } from '@pixmesh/http/deadline';
import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import { type ChargeId, type OperatorId, toAcquirerId } from '@pixmesh/kernel/ids';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { announceMove } from '#charge/move-charges.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { failpoint } from '#failpoints.ts';
import { applyProviderState } from '#status-check/apply-provider-state.ts';
import type { CheckChargeDeps } from '#status-check/check-charge.ts';
import { requestCheck } from '#charge/charge-checks.sql.ts';

import { decideCancellation } from './decide-cancellation.ts';

/** `repeated`: an earlier or faster call had done it, and this one changed nothing. */
type CanceledCharge = { charge: ChargeRow; repeated: boolean };

/**
 * Cancels a charge that is not paid. The acquirer arbitrates the race with a Pix (decision 75): the charge is
 * `canceled` once it is removed there, and whatever else the answer is, one status check decides.
 *
 * @throws AppError `CHARGE_NOT_FOUND`; `CHARGE_NOT_PENDING` where it is paid, being paid or has ended, or a Pix of
 *   another amount came for it; `INTERNAL_ERROR` while the outcome is unknown: a later check finds a removal that took
 *   effect after all
 */
export async function cancelCharge(
  deps: CheckChargeDeps,
  id: ChargeId,
  request: { operatorId: OperatorId; deadline: Deadline },
): Promise<CanceledCharge> {
  const charge = await findExisting(deps, id);
  const decision = decideCancellation(charge);
  if (decision === 'done') return { charge, repeated: true };
  if (decision === 'refuse') throw new AppError('CHARGE_NOT_PENDING');
  const outcome = await callAcquirer(deps, charge, request.deadline);
  await failpoint('charges.cancel.after-answer');
  if (isRemovedUnpaid(outcome)) {
    const canceled = await moveToCanceled(deps, charge, request.operatorId);
    if (canceled !== null) return { charge: canceled, repeated: false };
    // It moved meanwhile: the same removal seen by a check, or a Pix that came first.
    const moved = await findExisting(deps, id);
    if (decideCancellation(moved) === 'done') return { charge: moved, repeated: false };
  }
  return await answerByCheck(deps, id, { deadline: request.deadline, outcome });
}

async function callAcquirer(
  deps: CheckChargeDeps,
  charge: ChargeRow,
  deadline: Deadline,
): Promise<CancelOutcome> {
  const [outcome] = await Promise.all([
    deps.acquirer.cancelCharge(toAcquirerId(charge.id), {
      accountId: charge.accountId,
      signal: deadline.signal(),
    }),
    failpoint('charges.cancel.in-call'),
  ]);
  return outcome;
}

/** A Pix that the answer shows is recorded before the charge is answered. */
function isRemovedUnpaid(outcome: CancelOutcome): boolean {
  if (outcome.kind !== 'canceled') return false;
  const { status, received } = outcome.charge;
  return status === 'removed_by_receiver' && received.length === 0;
}

async function moveToCanceled(
  deps: CheckChargeDeps,
  charge: ChargeRow,
  operatorId: OperatorId,
): Promise<ChargeRow | null> {
  const change = {
    from: charge,
    status: 'canceled',
    cause: 'canceled',
    detail: operatorId,
    // A check that is due or requested still has to see what came in before the removal.
    checkInMs: 'kept',
  } as const;
  const canceled = await announceMove(deps, change, ['charge.pix.canceled']);
  if (canceled === null) return null;
  await failpoint('charges.cancel.after-commit');
  return canceled;
}

/** One status check applies what stands at the acquirer; the charge then answers for itself. */
async function answerByCheck(
  deps: CheckChargeDeps,
  id: ChargeId,
  { deadline, outcome }: { deadline: Deadline; outcome: CancelOutcome },
): Promise<CanceledCharge> {
  const charge = await findExisting(deps, id);
  let isPaidThere = false;
  if (decideCancellation(charge) === 'act') {
    const options = { accountId: charge.accountId, signal: deadline.signal() };
    const found = await deps.acquirer.getCharge(toAcquirerId(id), options);
    if (found.kind === 'found') {
      // A check of another process may hold the lease, and ends by itself.
      await applyProviderState(deps, { ...charge, leaseToken: null }, found.value);
      isPaidThere = found.value.status === 'settled';
    }
  }
  const after = await findExisting(deps, id);
  const decision = decideCancellation(after);
  switch (decision) {
    case 'done':
      // Removed by this call whose answer was lost or late, unless the acquirer refused it as not pending any more.
      return { charge: after, repeated: outcome.kind === 'refused' };
    case 'refuse':
      throw new AppError('CHARGE_NOT_PENDING');
    case 'act':
      // By a Pix that does not pay it, like one of another amount: there it can never be removed any more.
      if (isPaidThere) throw new AppError('CHARGE_NOT_PENDING');
      await requestCheck(deps.db, id, currentTraceParent());
      deps.wakeStatusChecks();
      throw new AppError('INTERNAL_ERROR', {
        message: `the cancellation of a charge is unknown: ${describe(outcome)}`,
      });
    default:
      return assertNever(decision);
  }
}

function describe(outcome: CancelOutcome): string {
  if (outcome.kind === 'unknown') return outcome.cause;
  return outcome.kind === 'refused' ? `refused, ${outcome.code}` : outcome.kind;
}

async function findExisting(deps: CheckChargeDeps, id: ChargeId): Promise<ChargeRow> {
  const charge = await findAnyCharge(deps.db, id);
  if (charge === null) throw new AppError('CHARGE_NOT_FOUND');
  return charge;
}
