import { violatedConstraint } from '@pixmesh/postgres/database-error';
import type { Database, Transaction } from '@pixmesh/postgres/pool';

import type { Faults } from '#faults/faults.ts';

import { newEndToEndId } from './end-to-end-id.ts';
import { endToEndIdTaken, type PaidPix, payWithin, planArrivals } from './pay-charge.ts';
import type { StoredPix } from './pix-resource.ts';
import { findReceivedPix, lockChargeToPay, recordPix, repeatNotice } from './received-pix.sql.ts';
import { readArrival } from './tariff.sql.ts';

/** A Pix as its payer's institution describes it. */
export type Arrival = {
  amountCents: bigint;
  txid: string | null;
  /** Another key than the account's makes it somebody else's. */
  pixKey: string;
  endToEndId: string | null;
  paidAt: Date | null;
  times: number;
};

type Deps = { db: Database; faults: Faults; pixKey: string };

/**
 * Lets a Pix arrive that need not name a charge. Where it names one of the account it pays that charge. A Pix to a
 * foreign key is announced here all the same, as through a callback URL that somebody else has registered.
 * @throws AppError `CONFLICT` for a taken end-to-end id, or as `payCharge`
 */
export async function receivePix(deps: Deps, arrival: Arrival): Promise<PaidPix> {
  try {
    return await deps.db.transaction(async (tx) => await receiveWithin(tx, deps, arrival));
  } catch (error) {
    if (violatedConstraint(error) !== 'received_pix_pkey') throw error;
    throw endToEndIdTaken(error);
  }
}

async function receiveWithin(tx: Transaction, deps: Deps, arrival: Arrival): Promise<PaidPix> {
  const { txid, pixKey, endToEndId } = arrival;
  if (txid !== null && pixKey === deps.pixKey && (await lockChargeToPay(tx, txid)) !== null) {
    return await payWithin(tx, { ...arrival, txid }, deps.faults);
  }
  const existing = endToEndId === null ? null : await findReceivedPix(tx, endToEndId);
  if (existing === null) {
    const pix = await newPix(tx, arrival, deps.pixKey);
    const notices = await recordPix(tx, pix, await announce(pix));
    return { pix, repeated: false, notices };
  }
  if (existing.txid !== txid || existing.pixKey !== pixKey) throw endToEndIdTaken();
  const notices = await repeatNotice(tx, await announce(existing));
  return { pix: existing, repeated: true, notices };

  async function announce(pix: StoredPix) {
    const notices = await planArrivals(pix, { times: arrival.times, faults: deps.faults });
    return { pixKey: deps.pixKey, notices };
  }
}

async function newPix(tx: Transaction, arrival: Arrival, ownKey: string): Promise<StoredPix> {
  const { readAt, tariffCents: tariff } = await readArrival(tx);
  const { txid, pixKey, amountCents } = arrival;
  const tariffCents = pixKey === ownKey ? tariff : null;
  const paidAt = arrival.paidAt ?? readAt;
  const endToEndId = arrival.endToEndId ?? newEndToEndId(paidAt);
  return { endToEndId, txid, pixKey, amountCents, paidAt, tariffCents, returns: [] };
}
