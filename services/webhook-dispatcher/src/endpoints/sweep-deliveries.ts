import type { Queryable } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { Sweep, SweepPosition, Swept } from './waiting-deliveries.sql.ts';

/** Rows per commit: so few that nobody who waits for one of them notices. */
export const SWEEP_BATCH = 1_000;
/** Part of a request that may go by with it; less than its caller waits. */
export const SWEEP_MS_MAX = 3_000;
/** Passes over what somebody had locked the first time. */
const PASSES_MAX = 3;

export type SweepDeps = { db: Queryable; logger: Logger };
type Target = Pick<Sweep, 'owner' | 'endpointId'> & {
  /** Takes one batch. */
  step(db: Queryable, sweep: Sweep): Promise<Swept>;
};
type Limits = { batch: number; maxMs: number };

/**
 * Takes `step` over everything that waits for an endpoint, a batch a commit, until a pass finds nothing more or the
 * time is over. It follows the commit of the endpoint's own change and only makes sooner what comes of that anyway:
 * senders cancel what they meet of a deleted endpoint, and what was put off for a paused one comes due by itself. So a
 * crash between two commits leaves nothing behind, and a database that goes away meanwhile does not undo the answer.
 */
export async function sweepDeliveries(
  { db, logger }: SweepDeps,
  target: Target,
  limits: Limits = { batch: SWEEP_BATCH, maxMs: SWEEP_MS_MAX },
): Promise<void> {
  const end = performance.now() + limits.maxMs;
  try {
    for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
      if ((await sweepOnce()) === 0 || performance.now() >= end) return;
    }
  } catch (error) {
    logger.warn(
      { err: error, endpoint_id: target.endpointId },
      'deliveries of a changed endpoint are left to the senders',
    );
  }

  async function sweepOnce(): Promise<number> {
    const { step, owner, endpointId } = target;
    let moved = 0;
    let after: SweepPosition | null = null;
    do {
      const swept: Swept = await step(db, { owner, endpointId, after, limit: limits.batch });
      moved += swept.count;
      after = swept.count < limits.batch ? null : swept.last;
    } while (after !== null && performance.now() < end);
    return moved;
  }
}
