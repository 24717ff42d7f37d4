import type { Database } from '@pixmesh/postgres/pool';

import type { Faults } from '#faults/faults.ts';
import { payFrom } from '#pix/pay-charge.ts';
import { paymentsWithin } from '#pix/payments.ts';

import { takeDueCharge } from './due-work.sql.ts';

/** Lets one charge pay itself, as `pay` would; answers whether there was one. */
export async function payDueCharge(deps: { db: Database; faults: Faults }): Promise<boolean> {
  return await deps.db.transaction(async (tx) => {
    const charge = await takeDueCharge(tx);
    if (charge === null) return false;
    if (!charge.isPayable) return true;
    const { txid } = charge;
    const payment = { txid, amountCents: null, endToEndId: null, paidAt: null, times: 1 };
    await payFrom(paymentsWithin(tx), payment, deps.faults);
    return true;
  });
}
