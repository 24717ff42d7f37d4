import type { AcquirerCharge, ReceivedPix } from '@pixmesh/acquirer/client';
import { toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';

import { findRecorded } from '#received/received-pix.sql.ts';
import { findReturns } from '#returns/pix-returns.sql.ts';
import type { RefundReturns } from '#refunds/refund-returns.ts';

import { type KnownMoney, returnKey } from './decide-check.ts';

/** Reads what is recorded of the Pix that a look shows. Returns are asked for only where it shows any. */
export async function readKnownMoney(
  deps: { db: Queryable; refunds: RefundReturns },
  { received }: Pick<AcquirerCharge, 'received'>,
): Promise<Omit<KnownMoney, 'passedOn'>> {
  const recorded = await findRecorded(
    deps.db,
    received.map(({ endToEndId }) => endToEndId),
  );
  const returned = received.filter(({ returns }) => returns.length > 0);
  const ids = returned.flatMap(({ returns }) => returns.map(({ id }) => id));
  return {
    recorded: new Map(recorded.map((pix) => [pix.endToEndId, pix.disposition])),
    returns: await readBookedReturns(deps.db, returned),
    refunds: ids.length === 0 ? new Set() : await deps.refunds.findOwn(ids),
  };
}

/** Recorded returns of some Pix, each with what of it is booked. */
export async function readBookedReturns(
  db: Queryable,
  pix: readonly Pick<ReceivedPix, 'endToEndId'>[],
): Promise<KnownMoney['returns']> {
  const recorded = await findReturns(
    db,
    pix.map(({ endToEndId }) => endToEndId),
  );
  return new Map(
    recorded.map(({ endToEndId, returnId, amount, disposition }) => [
      returnKey(endToEndId, returnId),
      disposition === 'unbooked' ? toCents(0n) : amount,
    ]),
  );
}
