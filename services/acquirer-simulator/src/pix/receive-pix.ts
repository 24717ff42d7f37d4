import type { ChangeDeps } from '#callbacks/announce.ts';

import { payFrom } from './pay-charge.ts';
import type { Payments } from './payments.ts';
import type { StoredPix } from './pix-resource.ts';
import {
  endToEndIdTaken,
  inArrival,
  newPix,
  type PaidPix,
  recordArrival,
} from './record-arrival.ts';

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

type Deps = Pick<ChangeDeps, 'db' | 'faults' | 'pixKey'>;

/**
 * Lets a Pix arrive that need not name a charge. Where it names one of the account it pays that charge. A Pix to a
 * foreign key is announced here all the same, as through a callback URL that somebody else has registered.
 * @throws AppError `CONFLICT` for a taken end-to-end id, or as `payCharge`
 */
export async function receivePix(deps: Deps, arrival: Arrival): Promise<PaidPix> {
  return await inArrival(deps.db, async (payments) => await receiveFrom(payments, deps, arrival));
}

async function receiveFrom(payments: Payments, deps: Deps, arrival: Arrival): Promise<PaidPix> {
  const { txid, pixKey, endToEndId, times } = arrival;
  if (txid !== null && pixKey === deps.pixKey && (await payments.findCharge(txid)) !== null) {
    return await payFrom(payments, { ...arrival, txid }, deps.faults);
  }
  const existing = endToEndId === null ? null : await payments.findPix(endToEndId);
  if (existing && (existing.txid !== txid || existing.pixKey !== pixKey)) throw endToEndIdTaken();
  const pix = existing ?? (await arrivalOf(payments, arrival, deps.pixKey));
  const announced = { pixKey: deps.pixKey, times, faults: deps.faults };
  return await recordArrival(payments, { pix, repeated: existing !== null }, announced);
}

async function arrivalOf(payments: Payments, arrival: Arrival, ownKey: string): Promise<StoredPix> {
  const { readAt, tariffCents: tariff } = await payments.readTerms();
  const { txid, pixKey, amountCents } = arrival;
  const tariffCents = pixKey === ownKey ? tariff : null;
  return newPix(arrival, { txid, pixKey, amountCents, tariffCents }, readAt);
}
