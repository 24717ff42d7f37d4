import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type NoticeOutcome, noticePix } from './pix-notices.sql.ts';

const PAUSE_MS = 600_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

/** A notice that was looked at so long ago. */
async function aNotice(outcome: NoticeOutcome, agoMs: number): Promise<string> {
  const endToEndId = `E${crypto.randomUUID()}`;
  await database.db.query(sql`
    insert into pix_notices (end_to_end_id, outcome, done_at)
    values (${endToEndId}, ${outcome}, now() - ${agoMs}::float8 * interval '1 ms')`);
  return endToEndId;
}

async function isDue(endToEndId: string): Promise<boolean> {
  const rows = await database.db.query(
    sql`select from pix_notices where end_to_end_id = ${endToEndId} and check_at is not null`,
  );
  return rows.length === 1;
}

test.each<[NoticeOutcome, number, number, boolean]>([
  ['not_found', PAUSE_MS / 2, PAUSE_MS, false],
  ['not_found', PAUSE_MS * 2, PAUSE_MS, true],
  ['not_found', 1_000, 0, true],
  ['suspended', 1_000, PAUSE_MS, true],
  ['foreign_key', PAUSE_MS * 2, 0, false],
])(
  'a Pix that was %s %i ms ago, with a pause of %i ms, is checked again: %s',
  async (outcome, agoMs, notFoundMs, expected) => {
    const endToEndId = await aNotice(outcome, agoMs);
    await noticePix(database.db, [endToEndId], { notFoundMs });
    expect(await isDue(endToEndId)).toBe(expected);
  },
);
