import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';

import type { LeasedCharge } from '#charge/charge-row.ts';
import { insertCharges, type NewCharge } from '#charge/creation/new-charges.sql.ts';

/** An order of 20.00 of a new account, to be stored under a lease of a minute. */
export function aNewOrder(): NewCharge {
  return {
    id: newId(),
    accountId: newId(),
    applicationId: newId(),
    source: 'api',
    amount: toCents(2_000),
    description: null,
    reference: null,
    customer: { name: 'Ana', email: 'ana@example.com', document: '52998224725', phone: null },
    webhookUrl: null,
    webhookSealedSecret: null,
    expiresIn: 3_600,
    defaultExpiresIn: 86_400,
    latePaymentPolicy: 'accept',
    releaseDelaySeconds: 0,
    fingerprint: Buffer.from('00', 'hex'),
    leaseToken: newId(),
    leaseMs: 60_000,
  };
}

/** A charge in `processing` whose first call is counted. */
export async function aNewCharge(db: Queryable): Promise<LeasedCharge> {
  const [charge = null] = await insertCharges(db, [aNewOrder()]);
  if (charge === null) throw new Error('the id exists');
  return charge;
}
