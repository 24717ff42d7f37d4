import { deriveCommandId } from '@pixmesh/kernel/ids';

/** The one command by which the ledger itself makes a pending credit available (decision 133). */
export function releasePendingIdOf(creditId: string): string {
  return deriveCommandId('release_pending', creditId);
}
