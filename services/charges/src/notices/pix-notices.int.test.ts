import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { leaseNamedCharges } from '#status-check/callback-checks.sql.ts';

import {
  endNotice,
  leaseDueNotices,
  type NoticeOutcome,
  noticePix,
  oldestNoticeSeconds,
  releaseNotice,
} from './pix-notices.sql.ts';

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

test.each<[string, (endToEndId: string) => Promise<unknown>]>([
  ['the list', (id) => noticePix(database.db, [id], { notFoundMs: 0 })],
  [
    'a callback',
    (endToEndId) =>
      leaseNamedCharges(database.db, [{ chargeId: null, endToEndId, traceparent: null }], {
        places: 0,
        leaseMs: PAUSE_MS,
      }),
  ],
])(
  'a Pix that was done and is announced again by %s begins anew: its age and its checks',
  async (_, announce) => {
    const { db } = database;
    await db.query(sql`delete from pix_notices`);
    const endToEndId = `E${crypto.randomUUID()}`;
    const check = async () => {
      const [notice] = await leaseDueNotices(db, 'routine', { limit: 1, leaseMs: PAUSE_MS });
      if (!notice) throw new Error('the notice is not due');
      return notice;
    };
    await announce(endToEndId);
    await releaseNotice(db, await check(), 0);
    await db.query(sql`update pix_notices set noticed_at = noticed_at - interval '1 hour'`);
    // Announced again while it waits, it is still the one of an hour ago.
    await announce(endToEndId);
    expect(await oldestNoticeSeconds(db)).toBeGreaterThan(3_000);
    const waiting = await check();
    expect(waiting.checks).toBe(1);
    await endNotice(db, waiting, 'suspended');
    await announce(endToEndId);
    expect(await oldestNoticeSeconds(db)).toBeLessThan(3_000);
    expect((await check()).checks).toBe(0);
  },
);
