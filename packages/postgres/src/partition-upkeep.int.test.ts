import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { ensureEventPartitions } from './partition-upkeep.ts';
import { createPool } from './pool.ts';
import { sql } from './sql.ts';

test('months are added while a transaction reads the table, and an event that is stored meanwhile does not wait', async () => {
  await using database = await createTestDatabase('charges');
  const { db, adminUrl } = database;
  await using admin = createPool({ url: adminUrl, applicationName: 'upkeep-test', max: 2 });
  const months = () =>
    admin.query(sql`select from pg_inherits where inhparent = 'charges.events'::regclass`);
  // The month may have turned since the database was made.
  await ensureEventPartitions(db);
  const complete = (await months()).length;
  await admin.query(sql`
    do $$
    declare
      month regclass;
    begin
      for month in
        select inhrelid from pg_inherits where inhparent = 'charges.events'::regclass order by 1 desc limit 3
      loop
        execute format('drop table %s', month);
      end loop;
    end
    $$`);
  expect(await months()).toHaveLength(complete - 3);
  await admin.transaction(async (reader) => {
    await reader.query(sql`select count(*) from charges.events`);
    await db.transaction(async (tx) => {
      await tx.query(sql`
        insert into events (event_id, topic, key, type, message)
        values (uuidv7(), 'charges.events', 'k', 'charge.pix.paid', '{}')`);
      await ensureEventPartitions(db);
      await db.query(sql`
        insert into events (event_id, topic, key, type, message)
        values (uuidv7(), 'charges.events', 'k', 'charge.pix.paid', '{}')`);
    });
  });
  expect(await months()).toHaveLength(complete);
});
