import type { AcquirerCharge } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { FoundBreak } from '@pixmesh/reconciliation/check';

import type { ComparedCharge } from './charge-state-check.sql.ts';

type TheirState = AcquirerCharge['status'];

const OPEN: readonly TheirState[] = ['active', 'settled'];
/** Also where there is money: a Pix may cross a removal, and pays the charge while nothing else was announced of it. */
const NOT_OPEN: readonly TheirState[] = ['settled', 'removed_by_psp', 'removed_by_receiver'];

/** What the acquirer's record may be; null while no state is certain. Any Pix settles it, the wrong one too. */
function allowedStates({ status, acceptedE2e }: ComparedCharge): readonly TheirState[] | null {
  switch (status) {
    case 'processing':
      return null;
    case 'pending':
      return acceptedE2e === null ? OPEN : NOT_OPEN;
    case 'failed':
    case 'canceled':
    case 'paid':
    case 'infraction':
    case 'refunded':
    case 'charged_back':
      return NOT_OPEN;
    default:
      return assertNever(status);
  }
}

/** The differences of one charge: left the acquirer's record of its txid, right ours. */
export function compareChargeState(
  ours: ComparedCharge,
  theirs: Pick<AcquirerCharge, 'status' | 'amountCents'> | null,
): FoundBreak[] {
  const { id, changedAt, amount, status } = ours;
  if (theirs === null) {
    // A charge that failed may never have come there, and one that is being issued may still come.
    if (status === 'failed' || status === 'processing') return [];
    return [{ kind: 'missing_left', id, found: status, amountCents: amount, changedAt }];
  }
  if (theirs.amountCents !== amount) {
    const [expected, found] = [String(theirs.amountCents), String(amount)];
    const difference = amount - theirs.amountCents;
    return [{ kind: 'amount', id, expected, found, amountCents: difference, changedAt }];
  }
  const allowed = allowedStates(ours);
  if (allowed === null || allowed.includes(theirs.status)) return [];
  return [{ kind: 'state', id, expected: theirs.status, found: status, changedAt }];
}
