import type { Deadline } from '@pixmesh/http/deadline';
import type { InternalClient } from '@pixmesh/http/internal-client';
import {
  createLedgerHolds,
  type HoldRefusal,
  type TakeHoldOutcome,
  type VoidHoldOutcome,
} from '@pixmesh/ledger-client/ledger-holds';

import type { PayoutRow } from '#payouts/payout-row.ts';

/** What a payout's hold can be refused for; the other reasons concern the Pix of a refund. */
type PayoutRefusal = Exclude<HoldRefusal, 'exceeds_received' | 'unknown_pix'>;

type TakePayoutOutcome =
  | Exclude<TakeHoldOutcome, { kind: 'refused' }>
  | { kind: 'refused'; reason: PayoutRefusal };

/** Holds of payouts at the ledger, in this service's words. Every call may be repeated for ever (decision 134). */
export type LedgerClient = {
  /** Amount and fee leave the available balance together, or not at all. */
  takeHold(payout: PayoutRow, deadline: Deadline): Promise<TakePayoutOutcome>;
  /** Before an intent is dropped: defeats a hold that is still on its way, too. */
  voidHold(payout: PayoutRow, deadline: Deadline): Promise<VoidHoldOutcome>;
};

export function createLedgerClient(client: InternalClient): LedgerClient {
  const holds = createLedgerHolds(client);
  return {
    takeHold: async (payout, deadline) => {
      const { amount, fee } = payout;
      const order = { ...nameOf(payout), kind: 'payout', amount, fee, endToEndId: null } as const;
      return readTaken(await holds.take(order, deadline));
    },
    voidHold: async (payout, deadline) => await holds.void(nameOf(payout), deadline),
  };
}

function readTaken(outcome: TakeHoldOutcome): TakePayoutOutcome {
  if (outcome.kind !== 'refused') return outcome;
  const { reason } = outcome;
  // No answer to a payout: its hold may stand or not.
  if (reason === 'exceeds_received' || reason === 'unknown_pix') {
    return { kind: 'unknown', cause: `a refusal for ${reason}` };
  }
  return { kind: 'refused', reason };
}

function nameOf({ holdId, accountId, id }: PayoutRow) {
  return { holdId, accountId, resourceId: id };
}
