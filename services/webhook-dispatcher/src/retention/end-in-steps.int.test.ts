import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { idAt } from '#test/queued-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import { enforceRetention } from './enforce-retention.sql.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEEP_DAYS = 90;

test('a turn of the retention ends a bounded part of what has waited for too long, and the next one the rest', async () => {
  await using own = await createTestDatabase('webhook_dispatcher');
  const { id: laneId } = await storeEndpoint(own.db, { active: false });
  const old = idAt(Date.now() - (KEEP_DAYS + 1) * DAY_MS);
  await own.db.query(sql`
    insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, is_resend)
    select id, id, id, ${laneId}::uuid, ${laneId}::uuid, false, false
    from generate_series(1, 20500) as place,
      lateral (select (substring(${old}::text for 24) || to_char(place, 'FM000000000000'))::uuid as id) as one`);
  const countLeft = async () => {
    const [row] = await own.db.query<{ count: number }>(
      sql`select count(*)::int as count from queue`,
    );
    return row!.count;
  };
  const turns = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const { isDone } = await enforceRetention(
      { db: own.db, logger: createLogger('test', 'silent') },
      KEEP_DAYS,
    );
    turns.push({ isDone, left: await countLeft() });
  }
  expect(turns).toEqual([
    { isDone: false, left: 500 },
    { isDone: true, left: 0 },
  ]);
});
