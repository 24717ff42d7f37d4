import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { explainKeptPlan, explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { eventHistoryStatement } from './event-history.ts';
import { createPool } from './pool.ts';
import { sql } from './sql.ts';

const ASKED = { topic: TOPICS.chargesEvents, key: newId(), since: new Date(), limit: 10 };

test('planned without its values, a history is read from the index of numbered events', async () => {
  await using database = await createTestDatabase('charges');
  const { url } = database;
  await using db = createPool({ url, applicationName: 'plans-test', max: 1, plansOnce: true });
  const plan = await explainKeptPlan(db, eventHistoryStatement(ASKED));
  expect(plan).toMatch(/using events_\d+_topic_key_sequence_idx/);
});

test('a reader that asks by topic and key alone reads that index too', async () => {
  await using database = await createTestDatabase('charges');
  const { db } = database;
  await db.query(sql`
    insert into events (event_id, topic, key, type, sequence, message)
    select id, ${ASKED.topic}, id::text, 'charge.pix.paid', n, '{}'
    from unnest(${Array.from({ length: 2_000 }, () => newId())}::uuid[]) with ordinality as one (id, n)`);
  const byKey = sql`select event_id from events where topic = ${ASKED.topic} and key = ${ASKED.key}`;
  const { scans } = await explainStatement(db, byKey);
  expect(scans).not.toContain('Seq Scan');
});
