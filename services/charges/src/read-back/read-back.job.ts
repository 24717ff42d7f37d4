import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { withSpan } from '@pixmesh/telemetry/tracing';

import type { ChargeRow } from '#charges/charge-row.ts';

import { leaseDueCharges } from './read-back.sql.ts';

/** Exchanges with the acquirer that the job has under way at most. */
const IN_FLIGHT_MAX = 16;
/** Routine looks in one run, and the pause between two runs: what nobody asked for is read gently. */
const ROUTINE_BATCH = 10;
const ROUTINE_INTERVAL_MS = 250;
const POLL_INTERVAL_MS = 100;
/** Without a turn for this long the loop hangs and the process is better restarted. */
const SILENCE_MS_MAX = 60_000;

type ReadBackJobDeps = {
  db: Database;
  logger: Logger;
  leaseMs: number;
  /** One look at one leased charge; it releases the lease. */
  lookAt(charge: ChargeRow): Promise<void>;
};

export type ReadBackJob = {
  /** Says that a look was asked for. */
  kick(): void;
  isAlive(): boolean;
  stop(): Promise<void>;
};

/**
 * Reads charges that may have changed at the acquirer back, for as long as the process lives: asked-for looks
 * at once, routine looks a few at a time. Replicas share the rows by their leases.
 */
export function startReadBackJob(deps: ReadBackJobDeps): ReadBackJob {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let wake = Promise.withResolvers<void>();
  let lastTurnMs = performance.now();
  let lastRoutineMs = 0;
  const running = loop();
  return {
    kick: () => wake.resolve(),
    isAlive: () => performance.now() - lastTurnMs < SILENCE_MS_MAX,
    stop: async () => {
      stopping.abort();
      wake.resolve();
      await running;
      await Promise.all(inFlight);
    },
  };

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      lastTurnMs = performance.now();
      const taken = await takeDue().catch((error: unknown) => {
        deps.logger.warn({ err: error }, 'read-back waits for the database');
        return 0;
      });
      if (taken === 0) await pause();
    }
  }

  async function takeDue(): Promise<number> {
    const requested = await take('requested', IN_FLIGHT_MAX);
    if (performance.now() - lastRoutineMs < ROUTINE_INTERVAL_MS) return requested;
    lastRoutineMs = performance.now();
    await take('routine', ROUTINE_BATCH);
    return requested;
  }

  async function take(urgency: 'requested' | 'routine', max: number): Promise<number> {
    const limit = Math.min(max, IN_FLIGHT_MAX - inFlight.size);
    if (limit <= 0) return 0;
    const charges = await leaseDueCharges(deps.db, urgency, { limit, leaseMs: deps.leaseMs });
    for (const charge of charges) follow(look(charge));
    return charges.length;
  }

  function follow(work: Promise<void>): void {
    inFlight.add(work);
    void work.finally(() => {
      inFlight.delete(work);
      wake.resolve();
    });
  }

  async function look(charge: ChargeRow): Promise<void> {
    const parent = charge.checkTraceparent;
    try {
      await withSpan('read charge back', { parent }, () => deps.lookAt(charge));
    } catch (error) {
      // The lease ends by itself and the look is repeated then.
      deps.logger.warn({ err: error, charge_id: charge.id }, 'reading a charge back failed');
    }
  }

  async function pause(): Promise<void> {
    const timer = new AbortController();
    const timeout = delay(POLL_INTERVAL_MS, undefined, { signal: timer.signal });
    await Promise.race([timeout.catch(() => undefined), wake.promise]);
    timer.abort();
    wake = Promise.withResolvers();
  }
}
