import { type OwnedTimeline, TIMELINE_PATHS } from '@pixmesh/contracts/internal/timeline';
import { parseId, type PayoutId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { findVisible } from '#operators/act-on-queued.ts';

import { readPayoutTimeline } from './payout-timeline.ts';

/** Our part of a payout's timeline, for operators: no tenant may ask. */
export function registerPayoutTimeline(app: FastifyInstance, { db }: { db: Database }): void {
  app.get<{ Params: { id: string } }>(
    TIMELINE_PATHS.payout,
    async (request): Promise<OwnedTimeline> => {
      const id = parseId<PayoutId>(request.params.id);
      return await db.snapshot(async (snapshot) =>
        readPayoutTimeline(snapshot, await findVisible(snapshot, id)),
      );
    },
  );
}
