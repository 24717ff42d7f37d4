import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { isStillDisputed } from './suspended-disputes.sql.ts';

const HOUR_MS = 3_600_000;
const WINDOW_MS = 96 * HOUR_MS;
const CONTESTED = 700;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

test.each<[string, { status: string; hoursAgo: number; returns: [string, number][] }, boolean]>([
  ['open', { status: 'open', hoursAgo: 1_000, returns: [] }, true],
  ['under review', { status: 'under_review', hoursAgo: 1, returns: [] }, true],
  ['won', { status: 'rejected', hoursAgo: 1, returns: [] }, false],
  ['lost just now', { status: 'accepted', hoursAgo: 1, returns: [] }, true],
  [
    'lost, returned otherwise',
    { status: 'accepted', hoursAgo: 1, returns: [['ORIGINAL', 700]] },
    true,
  ],
  [
    'lost, returned in part',
    { status: 'accepted', hoursAgo: 1, returns: [['MED_FRAUDE', 300]] },
    true,
  ],
  [
    'lost, returned in parts',
    {
      status: 'accepted',
      hoursAgo: 1,
      returns: [
        ['MED_FRAUDE', 300],
        ['MED_PIX_AUTOMATICO', 400],
      ],
    },
    false,
  ],
  ['lost long ago', { status: 'accepted', hoursAgo: 97, returns: [] }, false],
])('a Pix whose dispute is %s', async (_name, { status, hoursAgo, returns }, expected) => {
  const endToEndId = `E${crypto.randomUUID()}`;
  await database.db.query(sql`
    insert into suspended_disputes (infraction_id, end_to_end_id, amount, status, opened_at, noted_at)
    values (${endToEndId}, ${endToEndId}, ${CONTESTED}, ${status}, now(), now() - ${hoursAgo}::int * interval '1 hour')`);
  for (const [index, [nature, amount]] of returns.entries()) {
    await database.db.query(sql`
      insert into pix_returns (end_to_end_id, return_id, amount, nature, disposition)
      values (${endToEndId}, ${`r${index}`}, ${amount}, ${nature}, 'suspense_part')`);
  }
  const found = await database.db.transaction((tx) => isStillDisputed(tx, endToEndId, WINDOW_MS));
  expect(found).toBe(expected);
});
