import { type OwnedTimeline, TIMELINE_PATHS } from '@pixmesh/contracts/internal/timeline';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { findOperatorCharge } from '#charge/operators/find-operator-charge.ts';

import { readChargeTimeline } from './charge-timeline.ts';

/** Our part of a charge's timeline, for operators: no tenant may ask. */
export function registerChargeTimeline(app: FastifyInstance, { db }: { db: Database }): void {
  app.get(
    TIMELINE_PATHS.charge,
    async (request): Promise<OwnedTimeline> =>
      await db.snapshot(async (snapshot) =>
        readChargeTimeline(snapshot, await findOperatorCharge(snapshot, request)),
      ),
  );
}
