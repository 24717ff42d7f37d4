import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import type { Database, Transaction } from '@pixmesh/postgres/pool';

import { conflict } from '#control/conflict.ts';
import type { Faults } from '#faults/faults.ts';

import { decidePay } from './decide-pay.ts';
import type { StoredPix } from './pix-resource.ts';
import { type ChargeToPay, findReceivedPix, lockChargeToPay } from './received-pix.sql.ts';
import {
  endToEndIdTaken,
  inArrival,
  newPix,
  type PaidPix,
  recordArrival,
} from './record-arrival.ts';

export type Payment = {
  txid: string;
  /** The charge's own amount where null. */
  amountCents: bigint | null;
  endToEndId: string | null;
  paidAt: Date | null;
  /** How often the Pix is announced. */
  times: number;
};

/**
 * Lets a Pix arrive for a charge: the money, its journal entry and the notices of it are one transaction. Safe
 * to repeat with the same end-to-end id, which then only announces the Pix again.
 * @throws AppError `NOT_FOUND`, or `CONFLICT` for an expired charge or a taken end-to-end id
 */
export async function payCharge(
  deps: { db: Database; faults: Faults },
  payment: Payment,
): Promise<PaidPix> {
  return await inArrival(deps.db, async (tx) => await payWithin(tx, payment, deps.faults));
}

/** The same within a transaction that its caller has opened. */
export async function payWithin(
  tx: Transaction,
  payment: Payment,
  faults: Faults,
): Promise<PaidPix> {
  const charge = await lockChargeToPay(tx, payment.txid);
  const { endToEndId, times } = payment;
  const existing = endToEndId === null ? null : await findReceivedPix(tx, endToEndId);
  const decision = decidePay({ charge, existing, paidAtGiven: payment.paidAt !== null });
  switch (decision) {
    case 'new_pix':
      return await record(paymentOf(charge as ChargeToPay, payment), false);
    case 'repeated_notice':
      return await record(existing as StoredPix, true);
    case 'charge_not_found':
      throw new AppError('NOT_FOUND');
    case 'charge_expired':
      throw conflict('The charge has expired; name paid_at to pay it all the same.');
    case 'end_to_end_id_taken':
      throw endToEndIdTaken();
    default:
      return assertNever(decision);
  }

  async function record(pix: StoredPix, repeated: boolean): Promise<PaidPix> {
    return await recordArrival(tx, { pix, repeated }, { pixKey: pix.pixKey, times, faults });
  }
}

function paymentOf(charge: ChargeToPay, payment: Payment): StoredPix {
  const { txid, pixKey, tariffCents, readAt } = charge;
  const amountCents = payment.amountCents ?? charge.amountCents;
  return newPix(payment, { txid, pixKey, amountCents, tariffCents }, readAt);
}
