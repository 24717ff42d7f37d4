import type { ChargeStatus } from '@pixmesh/contracts/http/charge';
import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { shownStatus } from '#charge/expiry.ts';
import { fillCharges, type StoredCharge } from '#test/store-charge.ts';

import { listCharges } from './list-charges.sql.ts';

const OLD_ROWS = scaled(2_000, 10_000);
const NEW_ROWS = scaled(4_000, 100_000);
const WRITERS = 4;
/** Rows of one writer's transaction, so that commits fall between pages and out of the order of creation. */
const BATCH = 20;
const LIMIT = 50;

let database: TestDatabase;
let writers: Database;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  writers = createPool({ url: database.url, applicationName: 'writers', max: WRITERS });
});
afterAll(async () => {
  await writers[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test(
  'who pages while others write sees each charge that was there once, and none twice, in every list',
  { timeout: scaled(120_000, 900_000) },
  async () => {
    const accountId = newId<StoredCharge['accountId']>();
    await fillCharges(database.db, { accountId, rows: OLD_ROWS, spacingSeconds: 600 });
    // These were there at the start; what is about to expire by itself stays out of it.
    const lists = new Map<ChargeStatus | undefined, string[]>();
    for (const status of [undefined, 'paid', 'failed', 'refunded', 'expired'] as const) {
      lists.set(status, await readWhole({ accountId, status }));
    }
    const progress = { isWriting: true };
    let written = 0;
    const writing = Promise.all(
      Array.from({ length: WRITERS }, async () => {
        while (written < NEW_ROWS) {
          written += BATCH;
          await fillCharges(writers, { accountId, rows: BATCH, spacingSeconds: 0.05 });
        }
      }),
    ).finally(() => {
      progress.isWriting = false;
    });
    let whilePaging = 0;
    while (progress.isWriting) {
      for (const [status, old] of lists) {
        const before = written;
        const seen = await readWhole({ accountId, status });
        whilePaging += written - before;
        expect(new Set(seen).size).toBe(seen.length);
        const wanted = new Set(old);
        expect(seen.filter((id) => wanted.has(id))).toEqual(old);
      }
    }
    await writing;
    expect(whilePaging).toBeGreaterThan(NEW_ROWS / 4);
    const [count] = await database.db.query<{ rows: bigint }>(
      sql`select count(*) as rows from charges where account_id = ${accountId}`,
    );
    expect(Number(count?.rows)).toBeGreaterThanOrEqual(OLD_ROWS + NEW_ROWS);
    expect(await readWhole({ accountId, status: undefined })).toHaveLength(Number(count?.rows));
  },
);

/** Every id of a list, page by page. */
async function readWhole(filters: {
  accountId: StoredCharge['accountId'];
  status: ChargeStatus | undefined;
}): Promise<string[]> {
  const seen: string[] = [];
  for (let pages = 0; pages <= OLD_ROWS + 2 * NEW_ROWS; pages += 1) {
    const page = await listCharges(database.db, filters, {
      limit: LIMIT,
      startingAfter: seen.at(-1) ?? null,
    });
    seen.push(...page.map(({ id }) => id));
    const shown = new Set(page.map(shownStatus));
    if (filters.status !== undefined) shown.delete(filters.status);
    expect(filters.status === undefined ? 0 : shown.size).toBe(0);
    if (page.length < LIMIT) return seen;
  }
  throw new Error('the list has no end');
}
