import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChargeRow } from '#charge/charge-row.ts';

import { leaseDueCharges, leaseIssuingCharges } from '#charge/charge-checks.sql.ts';

/** Exchanges with the acquirer that the job has under way at most. */
const IN_FLIGHT_MAX = 16;
/** Routine looks in one run, and the pause between two runs: what nobody asked for is read gently. */
const ROUTINE_BATCH = 10;
const ROUTINE_INTERVAL_MS = 250;

type ReadBackJobDeps = {
  db: Database;
  logger: Logger;
  signal: WakeSignal;
  leaseMs: number;
  /** One look at one leased charge; it releases the lease. */
  lookAt(charge: ChargeRow): Promise<void>;
};

/**
 * Reads charges that may have changed at the acquirer back, for as long as the process lives: asked-for looks and
 * those that issuing waits for when they are due, the others a few at a time.
 */
export function startReadBackJob(deps: ReadBackJobDeps): PollingLoop {
  const { db, logger, signal, leaseMs } = deps;
  return startDueRowsJob({
    name: 'read charge back',
    logger,
    signal,
    inFlightMax: IN_FLIGHT_MAX,
    intakes: [
      {
        take: (limit) => leaseDueCharges(db, 'requested', { limit, leaseMs }),
        max: IN_FLIGHT_MAX,
      },
      // A creation that waits for its answer does not stand behind those that only might be paid.
      { take: (limit) => leaseIssuingCharges(db, { limit, leaseMs }), max: IN_FLIGHT_MAX },
      {
        take: (limit) => leaseDueCharges(db, 'routine', { limit, leaseMs }),
        max: ROUTINE_BATCH,
        intervalMs: ROUTINE_INTERVAL_MS,
      },
    ],
    handle: deps.lookAt,
    describe: (charge) => ({ charge_id: charge.id }),
    parentOf: (charge) => charge.checkTraceparent,
  });
}
