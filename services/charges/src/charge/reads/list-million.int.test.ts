import { createPool } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { isLong, sampled, scaled } from '@pixmesh/testkit/long-runs';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { measureCalls, summarizeTimes } from '@pixmesh/testkit/time-calls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';
import { listShapes } from '#test/list-shapes.ts';
import { fillCharges } from '#test/store-charge.ts';

const ROWS = scaled(10_000, 1_000_000);
/** Rows of one insert: a statement of ours may take ten seconds. */
const BATCH = 10_000;
const PAGE_MS_MAX = 20;
const CALLS_PER_SHAPE = scaled(2, 200);
/** Times mean nothing while other tests run. */
const PAGE_MS_ASSERTED = isLong ? PAGE_MS_MAX : Number.POSITIVE_INFINITY;

/**
 * What an account's million may look like: created within a month, a week, a day and minutes; lifetimes by which next
 * to all have expired, next to none, half of them, and no two the same.
 */
const HISTORIES: { name: string; spanSeconds: number; lifetime?: Statement }[] = [
  { name: 'a month of mixed lifetimes', spanSeconds: 2_600_000 },
  { name: 'minutes of which hardly one has expired', spanSeconds: 500, lifetime: rarely(60) },
  { name: 'a week of which hardly one is open', spanSeconds: 600_000, lifetime: rarely(604_800) },
  {
    name: 'a day of every lifetime up to a day',
    spanSeconds: 86_400,
    lifetime: sql`60 + number::bigint * 7919 % 86340`,
  },
];

/** Twenty charges have the other lifetime: a minute among days, or a week among minutes. */
function rarely(seconds: number): Statement {
  return sql`case when number % (${ROWS}::int / 20) = 6 then ${seconds}::int else ${seconds === 60 ? 86_400 : 60}::int end`;
}

describe('a list of a million charges of one account', () => {
  let charges: ChargesUnderTest;

  beforeAll(async () => {
    charges = await startChargesUnderTest();
  });
  afterAll(() => charges?.[Symbol.asyncDispose]());

  test.each(sampled(HISTORIES, 1))(
    'answers each page within 20 ms (p99) at any depth, with every filter: $name',
    { timeout: 1_800_000 },
    async ({ name, spanSeconds, ...lifetimes }) => {
      const history = { ...lifetimes, spacingSeconds: spanSeconds / ROWS };
      const caller = aCaller();
      const { account_id: accountId } = caller;
      for (let from = 0; from < ROWS; from += BATCH) {
        await fillCharges(charges.db, { accountId, rows: ROWS, ...history, from, count: BATCH });
      }
      await using admin = createPool({ url: charges.adminUrl, applicationName: 'test', max: 1 });
      await admin.query(sql`vacuum (analyze) charges.charges`);
      // What the filling left to be written would be written while pages are timed.
      await admin.query(sql`checkpoint`);
      const timesMs = new Map<number, number[]>();
      for (const { depth, filters, startingAfter } of await listShapes(charges.db, accountId)) {
        const query = new URLSearchParams({
          ...(startingAfter === null ? {} : { starting_after: startingAfter }),
          ...(filters.status === undefined ? {} : { status: filters.status }),
          ...(filters.createdAfter ? { created_after: filters.createdAfter.toISOString() } : {}),
          ...(filters.createdBefore ? { created_before: filters.createdBefore.toISOString() } : {}),
        });
        const ask = async (limit: number) => {
          const page = await charges.request(
            caller,
            `GET /v1/charges?limit=${limit}&${query.toString()}`,
          );
          expect(page.status).toBe(200);
        };
        const calls = Array.from(
          { length: CALLS_PER_SHAPE },
          (_, index) => () => ask(index % 2 ? 20 : 100),
        );
        timesMs.set(depth, [...(timesMs.get(depth) ?? []), ...(await measureCalls(calls))]);
      }
      for (const [depth, times] of timesMs) {
        const summary = summarizeTimes(times);
        if (isLong) process.stdout.write(`${name}; depth ${depth}: ${JSON.stringify(summary)}\n`);
        expect
          .soft([depth, summary.p99Ms <= PAGE_MS_ASSERTED ? 'fast' : summary.p99Ms])
          .toEqual([depth, 'fast']);
      }
    },
  );
});
