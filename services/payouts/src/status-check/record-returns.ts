import type { AcquirerPayout } from '@pixmesh/acquirer/acquirer';

import { type CheckProblem, checkShowedProblem } from '#reports.ts';
import { payoutReturnCredit } from '#payouts/ledger-commands.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import type { SettlementDeps } from '#settlement/settlement-deps.ts';

import { insertReturn, type ReturnOutcome } from './payout-returns.sql.ts';

/**
 * Money of a payout that the recipient's institution sent back: the payout stays completed, and each return is
 * credited once (decision 128). Nothing is booked before the settlement is ordered, so that the ledger gets
 * the two in this order. What would pay the same money twice is not booked: an operator has to act. Repeating it books
 * nothing.
 */
export async function recordReturns(
  deps: SettlementDeps,
  payout: PayoutRow,
  sent: AcquirerPayout,
): Promise<void> {
  const hasLeft = payout.status === 'completed' || payout.ending === 'settle';
  if (!hasLeft || sent.status !== 'settled') return;
  for (const { returnId, status, amountCents } of sent.returns) {
    if (status !== 'returned') continue;
    if (returnId === null) {
      checkShowedProblem(deps.logger, payout, 'return_without_id');
      continue;
    }
    const returned = { endToEndId: sent.endToEndId, returnId, amount: amountCents };
    const command = payoutReturnCredit(payout, returned);
    const outcome = await insertReturn(deps.db, payout, { returned, command });
    if (outcome === 'recorded') deps.wakeOutbox();
    const problem = PROBLEMS[outcome];
    if (problem !== null) checkShowedProblem(deps.logger, payout, problem);
  }
}

const PROBLEMS: Record<ReturnOutcome, CheckProblem | null> = {
  recorded: null,
  known: null,
  contradicted: 'return_of_contradicted',
  above_amount: 'return_above_amount',
};
