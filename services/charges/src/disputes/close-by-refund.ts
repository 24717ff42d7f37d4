import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { Queryable } from '@pixmesh/postgres/pool';

import { findAnyCharge } from '#charge/charges.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';

import { writeChange } from './apply-change.ts';
import { lose } from './decide-infraction.ts';
import { findOpenDispute } from './disputes.sql.ts';

/**
 * A charge that has been refunded in full meanwhile closes its open dispute as lost (decision 79): the payer has the
 * money, nothing of it is left to block. Called in the transaction that made the charge `refunded`, after it.
 */
export async function closeDisputeByRefund(
  tx: Queryable,
  receiver: Receiver,
  refunded: { chargeId: ChargeRow['id']; endToEndId: string },
): Promise<void> {
  const dispute = await findOpenDispute(tx, refunded.endToEndId);
  if (dispute === null) return;
  const charge = await findAnyCharge(tx, refunded.chargeId);
  if (charge === null) return;
  const change = lose(charge, { arrivedResolved: dispute.arrivedResolved, block: 'end' });
  await writeChange(tx, receiver, { dispute, charge, isNew: false, change });
}
