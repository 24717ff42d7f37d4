import type { DueRowsJob } from '@pixmesh/postgres/due-rows-job';
import { createNamedChecks, type NamedChecks } from '@pixmesh/postgres/named-checks';
import type { Queryable } from '@pixmesh/postgres/pool';

import type { LeasedCharge } from '#charge/charge-row.ts';

import { leaseNamedCharges, type NamedByCallback } from './callback-checks.sql.ts';

/** Checks what a callback names; a Pix that no charge explains becomes a notice. */
export type CallbackChecks = NamedChecks<NamedByCallback, LeasedCharge>;

export function createCallbackChecks(deps: {
  db: Queryable;
  job: Pick<DueRowsJob<LeasedCharge>, 'takeNow'>;
  leaseMs: number;
  wakeStatusChecks(): void;
}): CallbackChecks {
  const { db, leaseMs } = deps;
  return createNamedChecks({
    ...deps,
    lease: (names, places) => leaseNamedCharges(db, names, { places, leaseMs }),
  });
}
