import { contradicted } from '#events.ts';
import { type Contradiction, suspendPayoutCommand } from '#payouts/ledger-commands.ts';
import type { VisiblePayout } from '#payouts/payout-row.ts';
import { movePayout } from '#payouts/payouts.sql.ts';

import type { SettlementDeps } from './settlement-deps.ts';

/**
 * News against the end that a payout was told: its status stays, the money goes to suspense, and an operator is
 * told, once (decision 120). False when the payout has moved since it was read.
 */
export async function suspendContradiction(
  deps: SettlementDeps,
  payout: VisiblePayout,
  kind: Contradiction,
): Promise<boolean> {
  const moved = await movePayout(deps.db, {
    from: payout,
    status: payout.status,
    contradiction: kind,
    events: [suspendPayoutCommand(payout, kind)],
    checkInMs: null,
  });
  if (!moved) return false;
  contradicted(deps.logger, payout, kind);
  deps.wakeOutbox();
  return true;
}
