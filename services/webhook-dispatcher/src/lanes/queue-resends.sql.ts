import { newId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ScheduleClock } from '#schedule-clock.ts';

import { lockLanesToQueue, wakeLanes } from './lanes.sql.ts';

/** Order within a lane: single re-sends go with first attempts, those of a recovery behind everything. */
const RANK_OF_SINGLE = 0;
const RANK_OF_RECOVERY = 2;

type Resends = {
  deliveryIds: readonly string[];
  /** The stored job that asks for them; null when an operator asks for one. */
  recoveryId: string | null;
};

export type QueuedResend = { deliveryId: string; laneId: string; accountId: string };

/**
 * Queues one more attempt for each of these deliveries, whatever has become of them and beside their schedule: asked
 * for twice, each is sent twice. Deliveries that do not exist are left out. Answers what was queued; to be hinted to
 * the senders after the commit. Whether a delivery may be sent again is for the caller to decide.
 */
export async function queueResends(
  tx: Transaction,
  clock: ScheduleClock,
  { deliveryIds, recoveryId }: Resends,
): Promise<QueuedResend[]> {
  const deliveries = await findLanes(tx, deliveryIds);
  if (deliveries.length === 0) return [];
  const laneIds = deliveries.map(({ laneId }) => laneId);
  const lanes = deliveries.map(({ laneId, accountId }) => ({ id: laneId, accountId }));
  await lockLanesToQueue(tx, lanes);
  await insertResends(tx, deliveries, recoveryId);
  await wakeLanes(tx, clock, laneIds);
  return deliveries;
}

async function findLanes(tx: Transaction, deliveryIds: readonly string[]): Promise<QueuedResend[]> {
  return await tx.query<QueuedResend>(
    named(
      'resend_lanes',
      sql`
        select id as "deliveryId", account_id as "accountId", lane_id as "laneId"
        from deliveries
        where id = any (${deliveryIds}::uuid[])`,
    ),
  );
}

async function insertResends(
  tx: Transaction,
  deliveries: readonly QueuedResend[],
  recoveryId: string | null,
): Promise<void> {
  await tx.query(
    named(
      'resends_insert',
      sql`
        insert into queue
          (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, rank, is_resend, recovery_id)
        select
          resend.id, deliveries.id, deliveries.event_id, resend.lane_id, deliveries.endpoint_id,
          deliveries.for_resource_url, ${recoveryId === null ? RANK_OF_SINGLE : RANK_OF_RECOVERY}::smallint, true,
          ${recoveryId}::uuid
        from unnest(
            ${deliveries.map(() => newId())}::uuid[],
            ${deliveries.map(({ deliveryId }) => deliveryId)}::uuid[],
            ${deliveries.map(({ laneId }) => laneId)}::uuid[]
          ) as resend (id, delivery_id, lane_id)
        cross join lateral (
          select id, event_id, endpoint_id, for_resource_url
          from deliveries
          where deliveries.id = resend.delivery_id
          offset 0
        ) deliveries`,
    ),
  );
}
