import {
  holdReleaseCommandId,
  holdSettleCommandId,
  suspenseResolveCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import { payoutSuspendCommandIds, payoutReturnCreditCommandId } from '#payouts/ledger-commands.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';

import type { ReturnSteps } from './payout-steps.sql.ts';

/**
 * Every command that may have moved money for a payout, whether it was sent or not: the ledger has a journal of those
 * that were. Derived by the functions that send them; a hold is booked under its own id.
 */
export function commandsOfPayout(
  payout: Pick<PayoutRow, 'id' | 'holdId'>,
  returns: readonly Pick<ReturnSteps, 'end_to_end_id' | 'return_id'>[],
): string[] {
  return [
    payout.holdId,
    holdSettleCommandId(payout),
    holdReleaseCommandId(payout),
    ...payoutSuspendCommandIds(payout).flatMap((itemId) => [
      itemId,
      suspenseResolveCommandId(itemId),
    ]),
    ...returns.map(({ end_to_end_id: pix, return_id: id }) => payoutReturnCreditCommandId(pix, id)),
  ];
}
