import { type OwnedTimeline, TIMELINE_PATHS } from '@pixmesh/contracts/internal/timeline';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { findOperatorPayout } from '#operators/find-operator-payout.ts';

import { readPayoutTimeline } from './payout-timeline.ts';

/** Our part of a payout's timeline, for operators: no tenant may ask. */
export function registerPayoutTimeline(app: FastifyInstance, { db }: { db: Database }): void {
  app.get(TIMELINE_PATHS.payout, async (request): Promise<OwnedTimeline> => {
    return await db.snapshot(async (snapshot) =>
      readPayoutTimeline(snapshot, await findOperatorPayout(snapshot, request)),
    );
  });
}
