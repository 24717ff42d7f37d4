import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { timeCalls } from '@pixmesh/testkit/time-calls';
import { expect, test } from 'vitest';

import { listShapes } from '#test/list-shapes.ts';
import { fillPayouts } from '#test/store-payout.ts';

import { listPayouts } from './list-payouts.sql.ts';

const ROWS = scaled(10_000, 1_000_000);
/** Rows of one insert: a statement of ours may take ten seconds. */
const BATCH = 10_000;
const PAGE_MS_MAX = 20;
const CALLS_PER_SHAPE = scaled(2, 200);
/** Times mean nothing while other tests run. */
const PAGE_MS_ASSERTED = isLong ? PAGE_MS_MAX : Number.POSITIVE_INFINITY;

test(
  'a list of a million payouts of one account answers each page within 20 ms (p99) at any depth, with every filter',
  { timeout: 1_800_000 },
  async () => {
    await using database = await createTestDatabase('payouts');
    const { db, adminUrl } = database;
    const accountId = newId<AccountId>();
    for (let from = 0; from < ROWS; from += BATCH) {
      await fillPayouts(db, { accountId, rows: ROWS, from, count: BATCH });
    }
    await using admin = createPool({ url: adminUrl, applicationName: 'test', max: 1 });
    await admin.query(sql`vacuum (analyze) payouts.payouts`);
    for (const { name, filters, startingAfter } of await listShapes(db, accountId)) {
      const calls = Array.from(
        { length: CALLS_PER_SHAPE },
        (_, index) => () =>
          listPayouts(db, filters, { limit: index % 2 ? 21 : 101, startingAfter }),
      );
      const times = await timeCalls(calls);
      if (isLong) process.stdout.write(`payouts; ${name}: ${JSON.stringify(times)}\n`);
      expect
        .soft([name, times.p99Ms <= PAGE_MS_ASSERTED ? 'fast' : times.p99Ms])
        .toEqual([name, 'fast']);
    }
  },
);
