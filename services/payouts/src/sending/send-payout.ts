import type { SendOutcome } from '@pixmesh/acquirer/client';
import { assertNever } from '@pixmesh/kernel/app-error';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { sendAbandoned, sendEnded } from '#events.ts';
import { failpoint } from '#failpoints.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { acceptPayout } from '#settlement/accept-payout.ts';
import { orderEnd } from '#settlement/order-end.ts';

import type { Claim } from './claim-due.sql.ts';
import { decideSendAnswer } from './decide-send-answer.ts';
import { keepRefusal, scheduleLook, uncountCall } from './record-answer.sql.ts';
import { freeSlot } from './send-slots.sql.ts';
import type { SendingDeps } from './sending-deps.ts';

/**
 * Sends a claimed payout: one call, outside any transaction, under the acquirer's deadline and within its slot's
 * lease. Whatever is lost on the way leaves the call counted as unanswered, and a look decides (decision 118); only
 * a call that provably never left is taken off the count.
 *
 * @param startBeforeMs by `performance.now()`; a process that slept past it must not call any more, because others
 *   count on the call having ended
 */
export async function sendPayout(
  deps: SendingDeps,
  claim: Claim,
  startBeforeMs: number,
): Promise<void> {
  const { payout } = claim;
  await failpoint('payouts.submit.before-call');
  if (performance.now() >= startBeforeMs) {
    sendAbandoned(deps.logger, payout);
    return await freeSlot(deps.db, claim);
  }
  const outcome = await callInSlot(deps, claim);
  sendEnded(deps.logger, payout, outcome);
  await failpoint('payouts.submit.after-answer');
  await apply(deps, payout, outcome);
}

/** The slot is free as soon as the call has ended, however it did. */
async function callInSlot(deps: SendingDeps, claim: Claim): Promise<SendOutcome> {
  try {
    return await call(deps, claim.payout);
  } finally {
    await giveBack(deps, claim);
  }
}

async function call(deps: SendingDeps, payout: PayoutRow): Promise<SendOutcome> {
  const sending = deps.acquirer.sendPayout({
    idEnvio: toAcquirerId(payout.id),
    amountCents: payout.amount,
    pixKey: payout.pixKeyCanonical,
    recipientDocument: payout.recipientDocument,
    description: payout.description,
  });
  const [outcome] = await Promise.all([sending, failpoint('payouts.submit.in-call')]);
  return outcome;
}

/** A slot that cannot be given back now is free when its lease ends; the answer matters more. */
async function giveBack(deps: SendingDeps, claim: Claim): Promise<void> {
  await freeSlot(deps.db, claim).catch((error: unknown) => {
    deps.logger.warn(
      { err: error, slot: claim.slot },
      'a send slot waits for the end of its lease',
    );
  });
}

/** Every write is guarded by the version of the claim: an answer that comes too late changes nothing. */
async function apply(deps: SendingDeps, payout: PayoutRow, outcome: SendOutcome): Promise<void> {
  const step = decideSendAnswer(payout, outcome);
  const lookInMs = nextCheckMs(payout.checks, deps.unknownChecks);
  switch (step.kind) {
    case 'accept':
      await acceptPayout(deps, payout, step.sent);
      return;
    case 'release':
      await orderEnd(deps, payout, { kind: 'release', reason: step.reason, sent: null });
      return;
    case 'keep_refusal':
      return await keepRefusal(deps.db, payout, { reason: step.reason, lookInMs });
    case 'look':
      return await scheduleLook(deps.db, payout, lookInMs);
    case 'uncount':
      return await uncountCall(deps.db, payout, lookInMs);
    default:
      assertNever(step);
  }
}
