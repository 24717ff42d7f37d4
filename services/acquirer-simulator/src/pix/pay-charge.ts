import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import { violatedConstraint } from '@pixmesh/postgres/database-error';
import type { Database, Transaction } from '@pixmesh/postgres/pool';

import { type Notice, planCallbacks, toCallbackBody } from '#callbacks/plan-callbacks.ts';
import type { Faults } from '#faults/faults.ts';

import { decidePay } from './decide-pay.ts';
import { newEndToEndId } from './end-to-end-id.ts';
import { type StoredPix, toPixNotice } from './pix-resource.ts';
import {
  type ChargeToPay,
  findReceivedPix,
  lockChargeToPay,
  recordPix,
  repeatNotice,
} from './received-pix.sql.ts';

export type Payment = {
  txid: string;
  /** The charge's own amount where null. */
  amountCents: bigint | null;
  endToEndId: string | null;
  paidAt: Date | null;
  /** How often the Pix is announced. */
  times: number;
};

/** `notices` counts what was queued: nothing where the key has no webhook. */
export type PaidPix = { pix: StoredPix; repeated: boolean; notices: number };

/**
 * Lets a Pix arrive for a charge: the money, its journal entry and the notices of it are one transaction. Safe
 * to repeat with the same end-to-end id, which then only announces the Pix again.
 * @throws AppError `NOT_FOUND`, or `CONFLICT` for an expired charge or a taken end-to-end id
 */
export async function payCharge(
  deps: { db: Database; faults: Faults },
  payment: Payment,
): Promise<PaidPix> {
  try {
    return await deps.db.transaction(async (tx) => await payWithin(tx, payment, deps.faults));
  } catch (error) {
    if (violatedConstraint(error) !== 'received_pix_pkey') throw error;
    throw endToEndIdTaken(error);
  }
}

/** The same within a transaction that its caller has opened. */
export async function payWithin(
  tx: Transaction,
  payment: Payment,
  faults: Faults,
): Promise<PaidPix> {
  const charge = await lockChargeToPay(tx, payment.txid);
  const { endToEndId } = payment;
  const existing = endToEndId === null ? null : await findReceivedPix(tx, endToEndId);
  const decision = decidePay({ charge, existing, paidAtGiven: payment.paidAt !== null });
  switch (decision.kind) {
    case 'new_pix': {
      const pix = newPix(charge as ChargeToPay, payment);
      const notices = await recordPix(tx, pix, await announce(pix));
      return { pix, repeated: false, notices };
    }
    case 'repeated_notice': {
      const pix = existing as StoredPix;
      const notices = await repeatNotice(tx, await announce(pix));
      return { pix, repeated: true, notices };
    }
    case 'charge_not_found':
      throw new AppError('NOT_FOUND');
    case 'charge_expired':
      throw new AppError('CONFLICT', {
        publicMessage: 'The charge has expired; name paid_at to pay it all the same.',
      });
    case 'end_to_end_id_taken':
      throw endToEndIdTaken();
    default:
      return assertNever(decision);
  }

  async function announce(pix: StoredPix) {
    const notices = await planArrivals(pix, { times: payment.times, faults });
    return { pixKey: pix.pixKey, notices };
  }
}

/** A notice each, however often the one Pix is announced, as if nothing of it had gone back yet. */
export async function planArrivals(
  pix: StoredPix,
  options: { times: number; faults: Faults },
): Promise<Notice[]> {
  const item = toPixNotice({ ...pix, returns: [] });
  const body = toCallbackBody([item]);
  const items = Array.from({ length: options.times }, () => item);
  const planned = planCallbacks(await options.faults.pickCallbacks(items));
  return planned.map((notice) => ({ ...notice, body }));
}

function newPix(charge: ChargeToPay, payment: Payment): StoredPix {
  const paidAt = payment.paidAt ?? charge.readAt;
  return {
    endToEndId: payment.endToEndId ?? newEndToEndId(paidAt),
    txid: charge.txid,
    pixKey: charge.pixKey,
    amountCents: payment.amountCents ?? charge.amountCents,
    paidAt,
    tariffCents: charge.tariffCents,
    returns: [],
  };
}

export function endToEndIdTaken(cause?: unknown): AppError {
  return new AppError('CONFLICT', {
    publicMessage: 'Another Pix has this end-to-end id.',
    cause,
  });
}
