import type { OrderAnswer, OrderStep } from '@pixmesh/acquirer-orders/order-calls';
import { placeOrder } from '@pixmesh/acquirer-orders/place-order';
import type { AcquirerPayout } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { sendAbandoned, sendEnded } from '#reports.ts';
import { failpoint } from '#failpoints.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { acceptPayout } from '#settlement/accept-payout.ts';
import { orderEnd } from '#settlement/order-end.ts';

import type { Claim } from './claim-due.sql.ts';
import { recordRefusal, scheduleCheck, uncountCall } from './record-answer.sql.ts';
import type { SendingDeps } from './sending-deps.ts';

/**
 * Sends a claimed payout: one call, which the claim has counted, within its slot's lease. A lost call or answer
 * leaves the call counted as unanswered, and a status check decides (decision 118).
 *
 * @param deps `keepSlot` gets the slot when the call has ended
 * @param callBeforeMs by `performance.now()`; a process that slept past it does not call any more
 */
export async function sendPayout(
  deps: SendingDeps & { keepSlot(claim: Claim): Promise<void> },
  claim: Claim,
  callBeforeMs: number,
): Promise<void> {
  const placed = await placeOrder<PayoutRow, AcquirerPayout>({
    count: () => Promise.resolve({ row: claim.payout, formerCallAt: claim.formerCallAt }),
    callBeforeMs,
    call: (payout) => call(deps, payout, callBeforeMs),
    release: () => deps.keepSlot(claim),
    answered: (payout, answer) => sendEnded(deps.logger, payout, answer),
    failpoint: (name) => failpoint(`payouts.submit.${name}`),
  });
  if (placed !== null) await applyStep(deps, placed.row, placed.step);
}

async function call(
  { acquirer }: SendingDeps,
  payout: PayoutRow,
  callBeforeMs: number,
): Promise<OrderAnswer<AcquirerPayout>> {
  const outcome = await acquirer.sendPayout(
    {
      idEnvio: toAcquirerId(payout.id),
      amountCents: payout.amount,
      pixKey: payout.pixKeyCanonical,
      recipientDocument: payout.recipientDocument,
      description: payout.description,
    },
    { accountId: payout.accountId, beginBeforeMs: callBeforeMs },
  );
  return outcome.kind === 'accepted' ? { kind: 'accepted', value: outcome.payout } : outcome;
}

/** Every write is guarded by the version of the claim: an answer that comes too late changes nothing. */
async function applyStep(
  deps: SendingDeps,
  payout: PayoutRow,
  step: OrderStep<AcquirerPayout>,
): Promise<void> {
  const checkInMs = nextCheckMs(payout.checks, deps.unknownChecks);
  switch (step.kind) {
    case 'accepted': {
      // Never adopted: what was ordered and what leaves must be one. The status check reports it.
      const isOther = step.value.amountCents !== payout.amount;
      if (isOther) return await scheduleCheck(deps.db, payout, { error: null, checkInMs });
      return void (await acceptPayout(deps, payout, step.value));
    }
    case 'fail':
      return void (await orderEnd(deps, payout, { ...step, kind: 'release', sent: null }));
    case 'record_refusal':
      return await recordRefusal(deps.db, payout, { reason: step.reason, checkInMs });
    case 'check_later':
      return await scheduleCheck(deps.db, payout, { error: step.error, checkInMs });
    case 'uncount': {
      const { lastCallAt, cause, error } = step;
      const isLate = cause === 'too_late';
      if (isLate) sendAbandoned(deps.logger, payout);
      const former = { lastCallAt, error, checkInMs: isLate ? 0 : checkInMs };
      return await uncountCall(deps.db, payout, former);
    }
    default:
      return assertNever(step);
  }
}
