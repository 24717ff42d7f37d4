import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { TIMELINE_ENTRIES_MAX } from '@pixmesh/contracts/internal/timeline';
import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { eventHistoryStatement } from '@pixmesh/postgres/event-history';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { storeCharge } from '#test/store-charge.ts';

import { readChargeTimeline } from './charge-timeline.ts';
import {
  disputesStatement,
  movesStatement,
  receivedStatement,
  refundsStatement,
  resolutionsStatement,
  returnsStatement,
} from './charge-steps.sql.ts';

const OTHERS = scaled(5_000, 20_000);
/** Steps of each kind of the charge that is asked for. */
const OWN = 3;
const LIMIT = 1_001;
/** Of 20,000 rows each table has hundreds. */
const PAGES_MAX = 40;

/** Rows of every kind: `own` of one charge, `others` of as many charges. */
async function fill(db: Database, chargeId: string): Promise<void> {
  await db.query(sql`
    insert into charge_history (charge_id, version, to_status, cause)
    select case when n <= ${OWN} then ${chargeId}::uuid else gen_random_uuid() end, n, 'paid', 'created'
    from generate_series(1, ${OTHERS}::int) as n`);
  await db.query(sql`
    insert into refunds (id, charge_id, account_id, end_to_end_id, amount, hold_id, requested_by, fingerprint)
    select gen_random_uuid(), case when n <= ${OWN} then ${chargeId}::uuid else gen_random_uuid() end,
      gen_random_uuid(), 'E' || n, 1, gen_random_uuid(), gen_random_uuid(), '\\x00'
    from generate_series(1, ${OTHERS}::int) as n`);
  await db.query(sql`
    insert into disputes (
      id, infraction_id, charge_id, account_id, end_to_end_id, amount, status, reason, arrived_resolved, opened_at,
      defense_deadline_at, acquirer_status, block
    )
    select gen_random_uuid(), 'i' || n, case when n <= ${OWN} then ${chargeId}::uuid else gen_random_uuid() end,
      gen_random_uuid(), 'E' || n, 1, 'open', 'scam', false, now(), now(), 'open', 'none'
    from generate_series(1, ${OTHERS}::int) as n`);
  await db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    select 'E' || n, case when n <= ${OWN} then ${chargeId}::uuid else gen_random_uuid() end, gen_random_uuid(), 1,
      now(), 'credit'
    from generate_series(1, ${OTHERS}::int) as n`);
  await db.query(sql`
    insert into pix_returns (end_to_end_id, return_id, charge_id, amount, disposition)
    select 'E' || n, 'D', case when n <= ${OWN} then ${chargeId}::uuid else gen_random_uuid() end, 1, 'returned'
    from generate_series(1, ${OTHERS}::int) as n`);
  await db.query(sql`
    insert into suspense_resolutions (id, item_id, end_to_end_id, amount, action, requested_by)
    select gen_random_uuid(), gen_random_uuid(), 'E' || n, 1, 'return', gen_random_uuid()
    from generate_series(1, ${OTHERS}::int) as n`);
  await db.query(sql`
    insert into events (event_id, topic, key, type, sequence, message)
    select id, ${TOPICS.chargesEvents}, case when n <= ${OWN} then ${chargeId} else id::text end, 'charge.pix.paid', n,
      '{"data": {"status": "paid"}}'
    from unnest(${Array.from({ length: OTHERS }, () => newId())}::uuid[]) with ordinality as one (id, n)`);
}

const CASES = {
  'filled and analyzed': async (admin: Database, db: Database, chargeId: string) => {
    await fill(db, chargeId);
    await admin.query(sql`analyze`);
  },
  'analyzed while it was empty': async (admin: Database, db: Database, chargeId: string) => {
    await admin.query(sql`analyze`);
    await fill(db, chargeId);
  },
};

test.each(Object.entries(CASES))(
  'each part of a timeline is read from an index, and nothing of others, on tables that were %s',
  { timeout: 120_000 },
  async (_, prepare) => {
    await using database = await createTestDatabase('charges');
    const { db } = database;
    await using admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 1 });
    const { id, createdAt } = await storeCharge(db, { createdAt: new Date() });
    await prepare(admin, db, id);
    const items = ['E1', 'E2', 'E3'].map(receivedPixCommandId);
    const history = { topic: TOPICS.chargesEvents, key: id, since: createdAt, limit: LIMIT };
    const statements = [
      [movesStatement(id, LIMIT), /^charge_history_pkey$/],
      [refundsStatement(id, LIMIT), /^refunds_charge$/],
      [disputesStatement(id, LIMIT), /^disputes_charge$/],
      [receivedStatement(id, LIMIT), /^received_pix_charge$/],
      [returnsStatement(id, LIMIT), /^pix_returns_charge$/],
      [resolutionsStatement(items, LIMIT), /^suspense_resolutions_item$/],
      // A month without an event is a table without a page, which is read as it is.
      [eventHistoryStatement(history), /^(events_\d+_topic_key_sequence_idx1?|Seq Scan)$/],
    ] as const;
    for (const [statement, index] of statements) {
      const { scans, rowsRead, pagesRead } = await explainStatement(db, statement);
      const others = scans.filter((scan) => scan !== 'Bitmap Heap Scan' && !index.test(scan));
      expect([index, others, rowsRead <= OWN, pagesRead < PAGES_MAX]).toEqual([
        index,
        [],
        true,
        true,
      ]);
    }
  },
);

test('a life that is longer than a timeline may be is cut, and marked as truncated', async () => {
  await using database = await createTestDatabase('charges');
  const { db } = database;
  const { id } = await storeCharge(db);
  await db.query(sql`
    insert into charge_history (charge_id, version, at, to_status, cause)
    select ${id}::uuid, n, now() + n * interval '1 s', 'paid', 'refund_completed'
    from generate_series(0, ${TIMELINE_ENTRIES_MAX}::int + 5) as n`);
  const charge = await findAnyCharge(db, id);
  if (charge === null) throw new Error('no charge');
  const { entries, truncated } = await readChargeTimeline(db, charge);
  expect([entries.length, truncated]).toEqual([TIMELINE_ENTRIES_MAX, true]);
  expect(entries[0]?.details['version']).toBe(0);
});
