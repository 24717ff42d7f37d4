import { assertNever } from '@pixmesh/kernel/app-error';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { lookShowedProblem } from '#events.ts';
import { isVisible, type PayoutRow, type VisiblePayout } from '#payouts/payout-row.ts';
import { acceptPayout } from '#settlement/accept-payout.ts';
import { orderEnd } from '#settlement/order-end.ts';
import { suspendContradiction } from '#settlement/suspend-contradiction.ts';

import { decideLook, type LookStep } from './decide-look.ts';
import { releasePayout, requestCheck, sendAgain } from './read-back.sql.ts';
import type { ReadBackDeps } from './read-back-deps.ts';
import { recordReturns } from './record-returns.ts';

/**
 * One look for a leased row: an intent is settled with the ledger; a payout is read at the acquirer by its
 * idEnvio and moved on as `decideLook` says. A callback only ever leads here (decision 213).
 */
export async function lookAtPayout(deps: ReadBackDeps, payout: PayoutRow): Promise<void> {
  if (!isVisible(payout)) return await lookAtIntent(deps, payout);
  const found = await deps.acquirer.getPayout(toAcquirerId(payout.id));
  const step = decideLook(payout, found, deps);
  // Before the lease ends: what a crash leaves undone is looked at again.
  if (found.kind === 'found' && step.kind === 'rest' && step.problem === null) {
    await recordReturns(deps, payout, found.value);
  }
  if (await takeStep(deps, payout, step)) return;
  // Somebody moved it meanwhile, perhaps knowing less: what this look was asked for is asked again.
  await requestCheck(deps.db, { id: payout.id, endToEndId: null }, null);
}

/** False when the payout has moved since it was read. */
async function takeStep(
  deps: ReadBackDeps,
  payout: VisiblePayout,
  step: LookStep,
): Promise<boolean> {
  switch (step.kind) {
    case 'accept':
      return await acceptPayout(deps, payout, step.sent);
    case 'order_end':
      return await orderEnd(deps, payout, step.end);
    case 'send_again': {
      const moved = await sendAgain(deps.db, payout);
      if (moved) deps.wakeSender();
      return moved;
    }
    case 'contradict':
      return await suspendContradiction(deps, payout, step.contradiction);
    case 'look_later': {
      const periods = step.pace === 'accepted' ? deps.acceptedChecks : deps.unknownChecks;
      return await endLook(deps, payout, { ...step, inMs: nextCheckMs(payout.checks, periods) });
    }
    case 'rest':
      return await endLook(deps, payout, { ...step, inMs: null });
    default:
      return assertNever(step);
  }
}

async function endLook(
  deps: ReadBackDeps,
  payout: VisiblePayout,
  end: Pick<Extract<LookStep, { kind: 'rest' }>, 'problem'> & { inMs: number | null },
): Promise<true> {
  if (end.problem !== null) lookShowedProblem(deps.logger, payout, end.problem);
  await releasePayout(deps.db, payout, end.inMs);
  return true;
}

async function lookAtIntent(deps: ReadBackDeps, intent: PayoutRow): Promise<void> {
  const outcome = await deps.settleIntent(intent);
  if (outcome.kind === 'finished' || outcome.kind === 'dropped') return;
  await releasePayout(deps.db, intent, nextCheckMs(intent.checks, deps.intentChecks));
}
