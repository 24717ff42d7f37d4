import { explainKeptPlan } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { claimStatement } from './outbox-queue.sql.ts';
import { createPool } from './pool.ts';

test('planned without its values, a claim looks parked events up by topic and key', async () => {
  await using database = await createTestDatabase('ledger');
  const { url } = database;
  await using db = createPool({ url, applicationName: 'plans-test', max: 1, plansOnce: true });
  const plan = await explainKeptPlan(db, claimStatement());
  expect(plan).toContain('using dead_letters_outbox');
});
