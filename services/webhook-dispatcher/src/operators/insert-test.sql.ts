import { TEST_EVENT } from '@pixmesh/contracts/internal/operator-deliveries';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { EndpointOwner } from '#endpoints/endpoint-row.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

export type NewTest = EndpointOwner & {
  eventId: string;
  deliveryId: string;
  endpointId: string;
  assembledAt: Date;
  bodyRest: Buffer;
};

/**
 * An event of its own with one delivery. Its place in the queue is that of a re-send, so a pause does not hold it back,
 * under the delivery's own id, so its one attempt ends it. To be called behind `lockLanesToQueue`.
 */
export async function insertTest(
  tx: Transaction,
  clock: ScheduleClock,
  test: NewTest,
): Promise<void> {
  const { eventId, deliveryId, endpointId, accountId } = test;
  await tx.query(
    named(
      'test_insert',
      sql`
        with event as (
          insert into events (
            event_id, type, account_id, application_id, resource_id, source, sequence, occurred_at, body_rest
          )
          values (
            ${eventId}, ${TEST_EVENT}, ${accountId}, ${test.applicationId}, ${endpointId}, 'dashboard', 1,
            ${test.assembledAt}, ${test.bodyRest}
          )
        ),
        delivery as (
          insert into deliveries (
            id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id
          )
          values (
            ${deliveryId}, ${eventId}, ${endpointId}, ${accountId}, ${endpointId}, ${TEST_EVENT}, ${endpointId},
            ${endpointId}
          )
        )
        insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, is_resend, due_at)
        values (
          ${deliveryId}, ${deliveryId}, ${eventId}, ${endpointId}, ${endpointId}, false, true, ${scheduleNow(clock)}
        )`,
    ),
  );
}
