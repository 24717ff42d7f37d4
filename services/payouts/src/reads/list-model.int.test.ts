import type { PayoutStatus } from '@pixmesh/contracts/http/payout';
import { newId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { newestFirst, readPages } from '@pixmesh/testkit/list-pages';
import { scaled } from '@pixmesh/testkit/long-runs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type StoredPayout, storePayout } from '#test/store-payout.ts';

import { listedPayoutExists, listPayouts, type PayoutFilters } from './list-payouts.sql.ts';

let database: TestDatabase;
const accounts = [newId(), newId(), newId()];
const stored: StoredPayout[] = [];

/** Few instants, so that ties are the rule; rows of several accounts and intents stand among them. */
const ROWS = 120;
const STATUSES = ['intent', 'pending', 'processing', 'completed', 'failed', 'canceled'];
const instant = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, 0, second));

beforeAll(async () => {
  database = await createTestDatabase('payouts');
  for (let index = 0; index < ROWS; index += 1) {
    const row = await storePayout(database.db, {
      accountId: accounts[index % accounts.length] as StoredPayout['accountId'],
      status: STATUSES[(index * 7) % STATUSES.length] ?? 'pending',
      source: index % 5 === 0 ? 'dashboard' : 'api',
      reference: index % 4 === 0 ? `r${index % 8}` : null,
      endToEndId: index % 9 === 0 ? `E${index}` : null,
      createdAt: instant((index * 13) % 17),
    });
    stored.push(row);
  }
});
afterAll(() => database[Symbol.asyncDispose]());

const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const filters: fc.Arbitrary<PayoutFilters> = fc.record({
  accountId: optional(fc.constantFrom(...accounts, newId())),
  status: optional(fc.constantFrom(...(STATUSES.slice(1) as PayoutStatus[]))),
  source: optional(fc.constantFrom<'api' | 'dashboard'>('api', 'dashboard')),
  reference: optional(fc.constantFrom('r0', 'r4', 'none')),
  endToEndId: optional(fc.constantFrom('E0', 'E9', 'none')),
  createdAfter: optional(fc.nat(18).map(instant)),
  createdBefore: optional(fc.nat(18).map(instant)),
});

/** What the list is, written down without SQL. */
function expected(wanted: PayoutFilters): string[] {
  return stored
    .filter(
      (row) =>
        row.status !== 'intent' &&
        (wanted.accountId === undefined || row.accountId === wanted.accountId) &&
        (wanted.status === undefined || row.status === wanted.status) &&
        (wanted.source === undefined || row.source === wanted.source) &&
        (wanted.reference === undefined || row.reference === wanted.reference) &&
        (wanted.endToEndId === undefined || row.endToEndId === wanted.endToEndId) &&
        (wanted.createdAfter === undefined || row.createdAt > wanted.createdAfter) &&
        (wanted.createdBefore === undefined || row.createdAt < wanted.createdBefore),
    )
    .toSorted(newestFirst)
    .map(({ id }) => id);
}

test('every filter alone and together, in pages of every size, gives the list as it is by definition', async () => {
  await fc.assert(
    fc.asyncProperty(filters, fc.integer({ min: 1, max: 40 }), async (wanted, limit) => {
      const seen = await readPages(limit, (page) => listPayouts(database.db, wanted, page));
      expect(seen).toEqual(expected(wanted));
    }),
    { numRuns: scaled(60, 5_000) },
  );
});

test('a page after any cursor begins right behind it, whether or not the cursor itself passes the filters', async () => {
  const cursors = fc.nat(ROWS - 1).map((index) => stored[index]);
  await fc.assert(
    fc.asyncProperty(filters, cursors, async (wanted, cursor) => {
      if (cursor === undefined) return;
      const { id: startingAfter } = cursor;
      const page = await listPayouts(database.db, wanted, { limit: ROWS, startingAfter });
      const isListed =
        cursor.status !== 'intent' &&
        (wanted.accountId === undefined || wanted.accountId === cursor.accountId);
      expect(await listedPayoutExists(database.db, wanted, startingAfter)).toBe(isListed);
      const behind = expected({ accountId: wanted.accountId });
      const position = behind.indexOf(startingAfter);
      const rest = new Set(isListed ? behind.slice(position + 1) : []);
      expect(page.map(({ id }) => id)).toEqual(expected(wanted).filter((id) => rest.has(id)));
    }),
    { numRuns: scaled(60, 5_000) },
  );
});
