import type { Queryable } from '@pixmesh/postgres/pool';
import type { DueRowsJob } from '@pixmesh/postgres/due-rows-job';
import { createWriteBatcher } from '@pixmesh/postgres/write-batcher';

import type { PayoutRow } from '#payouts/payout-row.ts';

import { leaseNamedPayouts, type NamedCheck, type NamedPayout } from './callback-checks.sql.ts';

/** Checks what a callback names. False when no such payout exists. */
export type CallbackChecks = { check(name: NamedPayout): Promise<boolean> };

/**
 * What callbacks ask for is checked at once where the job has places, and requested otherwise, so that accounts take turns
 * as soon as checks have to wait. Callbacks that come together share a statement.
 */
export function createCallbackChecks(deps: {
  db: Queryable;
  job: Pick<DueRowsJob<PayoutRow>, 'takeNow'>;
  leaseMs: number;
  wakeStatusChecks(): void;
}): CallbackChecks {
  const { db, job, leaseMs } = deps;
  const batcher = createWriteBatcher<NamedPayout, boolean>(async (names) => {
    let checks: NamedCheck[] = [];
    await job.takeNow(names.length, async (places) => {
      checks = await leaseNamedPayouts(db, names, { places, leaseMs });
      return checks.filter(({ isLeased }) => isLeased).map(({ payout }) => payout);
    });
    if (checks.some(({ isLeased }) => !isLeased)) deps.wakeStatusChecks();
    return names.map((name) => checks.some(({ payout }) => isNamed(payout, name)));
  });
  return { check: (name) => batcher.submit(name) };
}

function isNamed(payout: PayoutRow, { id, endToEndId }: NamedPayout): boolean {
  return payout.id === id || (endToEndId !== null && payout.endToEndId === endToEndId);
}
