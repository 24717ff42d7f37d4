import type { Queryable } from '@pixmesh/postgres/pool';

import { leaseCharge } from '#charge/charge-checks.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';

import { storeCharge } from './store-charge.ts';

/** A pending charge that a status check holds for a minute. */
export async function aLeasedCharge(db: Queryable): Promise<ChargeRow> {
  const { id } = await storeCharge(db);
  const charge = await leaseCharge(db, id, 60_000);
  if (charge === null) throw new Error('it is leased');
  return charge;
}
