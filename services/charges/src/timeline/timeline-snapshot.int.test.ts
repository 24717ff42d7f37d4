import { TIMELINE_PATHS } from '@pixmesh/contracts/internal/timeline';
import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import type { Database, Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';

import { storeCharge } from '#test/store-charge.ts';

import { registerChargeTimeline } from './charge-timeline.route.ts';

/** One step of a charge's life: a move and its event, in one commit. */
async function moveOnce(db: Database, chargeId: string, version: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(sql`
      insert into charge_history (charge_id, version, to_status, cause)
      values (${chargeId}::uuid, ${version}::int, 'paid', 'created')`);
    await tx.query(sql`
      insert into events (event_id, topic, key, type, sequence, message)
      values (${newId()}::uuid, ${TOPICS.chargesEvents}, ${chargeId}, 'charge.pix.paid', ${version}::int,
        '{"data": {"status": "paid"}}')`);
  });
}

/** The database, with one more move of the charge committed after each read. */
function movesBetweenReads(db: Database, chargeId: string): Database {
  let version = 10;
  const readThenMove = (reader: Queryable): Queryable => ({
    query: async <Row extends object>(statement: Statement) => {
      const rows = await reader.query<Row>(statement);
      version += 1;
      await moveOnce(db, chargeId, version);
      return rows;
    },
  });
  const snapshot: Database['snapshot'] = (read) => db.snapshot((tx) => read(readThenMove(tx)));
  return { ...db, ...readThenMove(db), snapshot };
}

test('a charge that moves while its timeline is read is shown as of one moment, each event beside its move', async () => {
  await using database = await createTestDatabase('charges');
  const { db } = database;
  const { id } = await storeCharge(db, { createdAt: new Date() });
  await moveOnce(db, id, 10);
  await using app = fastify();
  app.decorateRequest('claims', null);
  registerChargeTimeline(app, { db: movesBetweenReads(db, id) });
  const answer = await app.inject(TIMELINE_PATHS.charge.replace(':id', id));
  const { entries } = answer.json<{ entries: { kind: string }[] }>();
  expect(entries.map(({ kind }) => kind)).toEqual(['state', 'event']);
});
