import { contradicted } from '#reports.ts';
import { type Contradiction, payoutSuspend } from '#payouts/ledger-commands.ts';
import type { VisiblePayout } from '#payouts/payout-row.ts';

import type { SettlementDeps } from './settlement-deps.ts';

/**
 * The end that was announced is contradicted: the status stays, the money goes to suspense, and operators are
 * alerted, once (decision 120). False when the payout has moved since it was read.
 */
export async function suspendContradiction(
  deps: SettlementDeps,
  payout: VisiblePayout,
  kind: Contradiction,
): Promise<boolean> {
  const moved = await deps.moves.move({
    from: payout,
    status: payout.status,
    contradiction: kind,
    events: [payoutSuspend(payout, kind)],
    checkInMs: null,
  });
  if (!moved) return false;
  contradicted(deps.logger, payout, kind);
  deps.wakeOutbox();
  return true;
}
