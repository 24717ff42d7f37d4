import type { DisputeStatus } from '@pixmesh/contracts/http/dispute';
import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import type { AccountId, ChargeId, DisputeId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';

/** The nature of a return under the MED begins so; every other return is the merchant's own (decision 78). */
export const MED_PREFIX = 'MED_';

/** A dispute as stored, mapped at the edge of `disputes.sql.ts`. */
export type DisputeRow = {
  id: DisputeId;
  infractionId: string;
  chargeId: ChargeId;
  accountId: AccountId;
  endToEndId: string;
  amount: Cents;
  status: DisputeStatus;
  reason: string;
  arrivedResolved: boolean;
  openedAt: Date;
  defenseDeadlineAt: Date;
  resolvedAt: Date | null;
  /** The acquirer's status, as of the last reading of its list. */
  acquirerStatus: AcquirerDispute['status'];
  acquirerDecidedAt: Date | null;
  /** `standing`: a block is ordered and has not been released. */
  block: 'none' | 'standing' | 'ended';
  defenseText: string | null;
  defenseSentAt: Date | null;
  /** A defense that was sent to the acquirer without a definite answer so far; stored until its list shows it. */
  intendedDefense: { text: string; at: Date } | null;
  createdAt: Date;
  version: number;
  /**
   * What the acquirer returned under the MED for this dispute, of the returns that were seen (`attribute-returns.ts`).
   */
  returnedAmount: Cents;
  /** Database time of the read. */
  readAt: Date;
};

export function isOpen({ status }: { status: DisputeStatus }): boolean {
  return status === 'open' || status === 'under_review';
}
