import { deriveCommandId } from '@pixmesh/kernel/ids';

// Ids of ledger commands that several services derive. They are permanent: the ledger would take another spelling of an
// id for another command, and move its money twice.

/** The one command that books a received Pix, whether it credits or suspends it; the id of its item in suspense. */
export function receivedPixCommandId(endToEndId: string): string {
  return deriveCommandId('received_pix', endToEndId);
}

/** The one command that books the acquirer's tariff of a received Pix. */
export function acquirerTariffCommandId(endToEndId: string): string {
  return deriveCommandId('acquirer_tariff.book', endToEndId);
}

/** The one command by which the ledger itself makes a pending credit available (decision 133). */
export function releasePendingIdOf(creditId: string): string {
  return deriveCommandId('release_pending', creditId);
}

/** The one command that takes the money of a hold out of the books. */
export function holdSettleCommandId({ holdId }: { holdId: string }): string {
  return deriveCommandId('hold_settle', holdId);
}

/** The one command that returns the money of a hold to its owner, or to the block that it was taken from. */
export function holdReleaseCommandId({ holdId }: { holdId: string }): string {
  return deriveCommandId('hold_release', holdId);
}

/** The one command that takes an item in suspense out of it as a whole. */
export function suspenseResolveCommandId(itemId: string): string {
  return deriveCommandId('suspense.resolve', itemId);
}
