import { type AnswerWord, toAnswerWord } from '@pixmesh/acquirer/describe-answer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { type CheckProblem, checkShowedProblem } from '#reports.ts';
import { isVisible, type PayoutRow, type VisiblePayout } from '#payouts/payout-row.ts';
import { acceptPayout } from '#settlement/accept-payout.ts';
import { orderEnd } from '#settlement/order-end.ts';
import { suspendContradiction } from '#settlement/suspend-contradiction.ts';

import { decideCheck, type CheckStep } from './decide-check.ts';
import { releasePayout, requestCheck, sendAgain } from './payout-checks.sql.ts';
import type { StatusCheckDeps } from './status-check-deps.ts';
import { recordReturns } from './record-returns.ts';

/**
 * One status check of a leased row: an intent is settled with the ledger; a payout is read at the acquirer by its
 * idEnvio and moved on as `decideCheck` says. All that a callback causes is this check (decision 213).
 */
export async function checkPayoutStatus(deps: StatusCheckDeps, payout: PayoutRow): Promise<void> {
  if (isVisible(payout)) await checkVisible(deps, payout);
  else await checkIntent(deps, payout);
}

/** The status check of a leased payout. Returns what the acquirer said. */
export async function checkVisible(
  deps: StatusCheckDeps,
  payout: VisiblePayout,
): Promise<AnswerWord> {
  const { id, accountId } = payout;
  const found = await deps.acquirer.getPayout(toAcquirerId(id), { accountId });
  const step = decideCheck(payout, found, deps);
  // Before the lease ends: what a crash leaves undone is checked again.
  if (found.kind === 'found' && step.kind === 'rest' && step.problem === null) {
    await recordReturns(deps, payout, found.value);
  }
  const answer = toAnswerWord(found);
  if (await takeStep(deps, payout, { step, answer })) return answer;
  // Another process moved it meanwhile, perhaps knowing less: what this check was asked for is asked again.
  await requestCheck(deps.db, payout.id, null);
  deps.wakeStatusChecks();
  return answer;
}

/** False when the payout has moved since it was read. */
async function takeStep(
  deps: StatusCheckDeps,
  payout: VisiblePayout,
  { step, answer }: { step: CheckStep; answer: AnswerWord },
): Promise<boolean> {
  switch (step.kind) {
    case 'accept':
      return await acceptPayout(deps, payout, step.sent);
    case 'order_end':
      return await orderEnd(deps, payout, step.end);
    case 'send_again': {
      const nextInMs = nextCheckMs(payout.checks, deps.unknownChecks);
      const moved = await sendAgain(deps.db, payout, nextInMs);
      if (moved) deps.wakeSender();
      return moved;
    }
    case 'contradict':
      return await suspendContradiction(deps, payout, step.contradiction);
    case 'check_later': {
      const periods = step.pace === 'accepted' ? deps.acceptedChecks : deps.unknownChecks;
      const nextInMs = nextCheckMs(payout.checks, periods);
      return await endCheck(deps, payout, { ...step, answer, nextInMs });
    }
    case 'rest':
      return await endCheck(deps, payout, { ...step, answer, nextInMs: null });
    default:
      return assertNever(step);
  }
}

async function endCheck(
  deps: StatusCheckDeps,
  payout: VisiblePayout,
  end: { problem: CheckProblem | null; answer: AnswerWord; nextInMs: number | null },
): Promise<true> {
  if (end.problem !== null) checkShowedProblem(deps.logger, payout, end.problem);
  await releasePayout(deps.db, payout, end);
  return true;
}

async function checkIntent(deps: StatusCheckDeps, intent: PayoutRow): Promise<void> {
  const outcome = await deps.settleIntent(intent);
  if (outcome.kind === 'finished' || outcome.kind === 'dropped') return;
  const nextInMs = nextCheckMs(intent.checks, deps.intentChecks);
  await releasePayout(deps.db, intent, { answer: null, nextInMs });
}
