import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { createWriteBatcher } from '@pixmesh/postgres/write-batcher';

import type { Announcement } from '#callbacks/announce.ts';

import {
  type ChargeToPay,
  findChargesToPay,
  lockChargeToPay,
  type NewArrival,
  recordPixes,
  repeatNotice,
} from './arrivals.sql.ts';
import type { StoredPix } from './pix-resource.ts';
import { findReceivedPix } from './received-pix.sql.ts';
import { type ArrivalTerms, readArrivalTerms } from './tariff.sql.ts';

/** What a payment reads and writes. */
export type Payments = {
  /** Null for a txid that was never issued. */
  findCharge(txid: string): Promise<ChargeToPay | null>;
  findPix(endToEndId: string): Promise<StoredPix | null>;
  /** For a Pix that names no charge. */
  readTerms(): Promise<ArrivalTerms>;
  /** Returns how many notices were queued, as `repeat` does. */
  record(arrival: NewArrival): Promise<number>;
  repeat(announce: Announcement): Promise<number>;
};

/** Payments of one charge, and the removal of it, take turns until the end of the transaction. */
export function paymentsWithin(tx: Transaction): Payments {
  return {
    findCharge: async (txid) => await lockChargeToPay(tx, txid),
    findPix: async (endToEndId) => await findReceivedPix(tx, endToEndId),
    readTerms: async () => await readArrivalTerms(tx),
    record: async (arrival) => await recordAlone(tx, arrival),
    repeat: async (announce) => await repeatNotice(tx, announce),
  };
}

/**
 * Payments that arrive together share a read and a write. Nothing is locked between the two, so this is only for
 * payments whose end-to-end id nobody else can name.
 */
export function createSharedPayments(db: Queryable): Payments {
  const charges = createWriteBatcher<string, ChargeToPay | null>((txids) =>
    findChargesToPay(db, txids),
  );
  const arrivals = createWriteBatcher<NewArrival, number>((some) => recordPixes(db, some));
  return {
    findCharge: charges.submit,
    findPix: async (endToEndId) => await findReceivedPix(db, endToEndId),
    readTerms: async () => await readArrivalTerms(db),
    record: async (arrival) =>
      isHeld(arrival) ? await recordAlone(db, arrival) : await arrivals.submit(arrival),
    repeat: async (announce) => await repeatNotice(db, announce),
  };
}

/** One that waits to be overtaken is not overtaken by what shares its statement (`queueCallbacks`). */
function isHeld({ announce }: NewArrival): boolean {
  return announce.notices.some(({ held }) => held);
}

async function recordAlone(db: Queryable, arrival: NewArrival): Promise<number> {
  const [queued] = (await recordPixes(db, [arrival])) as [number];
  return queued;
}
