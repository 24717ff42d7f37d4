import type { DueRowsJob } from '@pixmesh/postgres/due-rows-job';
import { createNamedChecks, type NamedChecks } from '@pixmesh/postgres/named-checks';
import type { Queryable } from '@pixmesh/postgres/pool';

import type { PayoutRow } from '#payouts/payout-row.ts';

import { leaseNamedPayouts, type NamedPayout } from './callback-checks.sql.ts';

/** Checks what a callback names. */
export type CallbackChecks = NamedChecks<NamedPayout, PayoutRow>;

export function createCallbackChecks(deps: {
  db: Queryable;
  job: Pick<DueRowsJob<PayoutRow>, 'takeNow'>;
  leaseMs: number;
  wakeStatusChecks(): void;
}): CallbackChecks {
  const { db, leaseMs } = deps;
  return createNamedChecks({
    ...deps,
    lease: (names, places) => leaseNamedPayouts(db, names, { places, leaseMs }),
  });
}
