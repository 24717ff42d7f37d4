import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { claimStatement } from './outbox-queue.sql.ts';
import { createPool } from './pool.ts';
import { render, sql } from './sql.ts';

test('planned without its values, a claim looks parked events up by topic and key', async () => {
  await using database = await createTestDatabase('ledger');
  const { url } = database;
  await using db = createPool({ url, applicationName: 'plans-test', max: 1, plansOnce: true });
  // What a prepared statement keeps under `plan_cache_mode = force_generic_plan`.
  const text = `explain (generic_plan, costs off) ${render(claimStatement()).text}`;
  const rows = await db.query<{ 'QUERY PLAN': string }>(
    sql(Object.assign([text], { raw: [text] })),
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('using dead_letters_outbox');
});
