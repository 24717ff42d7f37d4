import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';

import { conflict } from '#control/conflict.ts';
import type { Faults } from '#faults/faults.ts';

import type { ChargeToPay } from './arrivals.sql.ts';
import { decidePay } from './decide-pay.ts';
import type { Payments } from './payments.ts';
import type { StoredPix } from './pix-resource.ts';
import {
  endToEndIdTaken,
  inArrival,
  newPix,
  type PaidPix,
  recordArrival,
  refusingTaken,
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

/** `payments`: those that share statements. */
export type PayDeps = { db: Database; payments: Payments; faults: Faults };

/**
 * Lets a Pix arrive for a charge: the money, its journal entry and the notices of it are one statement. Safe
 * to repeat with the same end-to-end id, which then only announces the Pix again.
 * @throws AppError `NOT_FOUND`, or `CONFLICT` for an expired charge or a taken end-to-end id
 */
export async function payCharge(deps: PayDeps, payment: Payment): Promise<PaidPix> {
  const pay = async (payments: Payments) => await payFrom(payments, payment, deps.faults);
  if (payment.endToEndId !== null) return await inArrival(deps.db, pay);
  return await refusingTaken(() => pay(deps.payments));
}

/** The same with what its caller reads and writes by. */
export async function payFrom(
  payments: Payments,
  payment: Payment,
  faults: Faults,
): Promise<PaidPix> {
  const charge = await payments.findCharge(payment.txid);
  const { endToEndId, times } = payment;
  const existing = endToEndId === null ? null : await payments.findPix(endToEndId);
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
    return await recordArrival(payments, { pix, repeated }, { pixKey: pix.pixKey, times, faults });
  }
}

function paymentOf(charge: ChargeToPay, payment: Payment): StoredPix {
  const { txid, pixKey, tariffCents, readAt } = charge;
  const amountCents = payment.amountCents ?? charge.amountCents;
  return newPix(payment, { txid, pixKey, amountCents, tariffCents }, readAt);
}
