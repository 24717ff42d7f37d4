import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { AccountId, ChargeId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';

/** A received Pix that waits in suspense; its id is that of the command that booked it. */
export type SuspenseItem = {
  id: string;
  endToEndId: string;
  chargeId: ChargeId | null;
  /** Null: the platform holds it. */
  ownerId: AccountId | null;
  /** Of the whole Pix; parts of it may have gone back. */
  amount: Cents;
};

export function itemOf(pix: {
  endToEndId: string;
  chargeId: ChargeId | null;
  accountId: AccountId | null;
  amount: Cents;
}): SuspenseItem {
  const { endToEndId, chargeId, accountId: ownerId, amount } = pix;
  return { id: receivedPixCommandId(endToEndId), endToEndId, chargeId, ownerId, amount };
}
