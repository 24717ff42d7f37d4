import { ChargeStatus } from '@pixmesh/contracts/http/charge';
import { newId } from '@pixmesh/kernel/ids';
import { newestFirst, readPages } from '@pixmesh/testkit/list-pages';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { StoredStatus } from '#charge/charge-row.ts';
import { storeCharge, type StoredCharge } from '#test/store-charge.ts';

import { type ChargeFilters, listCharges, listedChargeExists } from './list-charges.sql.ts';

let database: TestDatabase;
const accounts = [newId(), newId(), newId()] as StoredCharge['accountId'][];
const stored: StoredCharge[] = [];

/** Few instants, so that ties are the rule; rows of several accounts, and some of the checkout, stand among them. */
const ROWS = 120;
const STORED = ChargeStatus.options.filter((status) => status !== 'expired') as StoredStatus[];
const START_MS = Date.now() - 3_600_000;
const instant = (second: number) => new Date(START_MS + second * 1000);
/** Past and future ones, round and odd; none of them ends while the test runs. */
const LIFETIMES_SECONDS = [-5, 0, 60, 61, 1_800, 1_799, 86_400, 100_000, 604_800, 2_000_000];

beforeAll(async () => {
  database = await createTestDatabase('charges');
  for (let index = 0; index < ROWS; index += 1) {
    const createdAt = instant((index * 13) % 17);
    const lifetime = LIFETIMES_SECONDS[index % LIFETIMES_SECONDS.length] ?? 60;
    const row = await storeCharge(database.db, {
      accountId: accounts[index % accounts.length] ?? newId(),
      status: index % 2 === 0 ? 'pending' : (STORED[index % STORED.length] ?? 'paid'),
      source: index % 11 === 0 ? 'checkout' : 'api',
      acceptedE2e: index % 7 === 0 ? `E${index}` : null,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + lifetime * 1000),
    });
    stored.push(row);
  }
});
afterAll(() => database[Symbol.asyncDispose]());

const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const filters: fc.Arbitrary<ChargeFilters> = fc.record({
  accountId: fc.constantFrom(...accounts, newId<StoredCharge['accountId']>()),
  status: optional(fc.constantFrom(...ChargeStatus.options)),
  createdAfter: optional(fc.nat(18).map(instant)),
  createdBefore: optional(fc.nat(18).map(instant)),
});

/** What the list is, written down without SQL. */
function expected(wanted: ChargeFilters): string[] {
  return stored
    .filter(
      (row) =>
        row.source === 'api' &&
        row.accountId === wanted.accountId &&
        (wanted.status === undefined || statusOf(row) === wanted.status) &&
        (wanted.createdAfter === undefined || row.createdAt > wanted.createdAfter) &&
        (wanted.createdBefore === undefined || row.createdAt < wanted.createdBefore),
    )
    .toSorted(newestFirst)
    .map(({ id }) => id);
}

function statusOf(row: StoredCharge): ChargeStatus {
  const isOpen = row.status === 'pending' && row.acceptedE2e === null;
  return isOpen && row.expiresAt <= new Date() ? 'expired' : row.status;
}

test('every filter alone and together, in pages of every size, gives the list as it is by definition', async () => {
  await fc.assert(
    fc.asyncProperty(filters, fc.integer({ min: 1, max: 40 }), async (wanted, limit) => {
      const seen = await readPages(limit, (page) => listCharges(database.db, wanted, page));
      expect(seen).toEqual(expected(wanted));
    }),
    { numRuns: scaled(60, 5_000) },
  );
});

test('a page after any cursor begins right behind it, whether or not the cursor itself passes the filters', async () => {
  const cursors = fc.constantFrom(...Array.from({ length: ROWS }, (_, index) => index));
  await fc.assert(
    fc.asyncProperty(filters, cursors, async (wanted, index) => {
      const cursor = stored[index] as StoredCharge;
      const { accountId } = wanted;
      const page = { limit: ROWS, startingAfter: cursor.id };
      const found = (await listCharges(database.db, wanted, page)).map(({ id }) => id);
      const isListed = cursor.source === 'api' && cursor.accountId === accountId;
      expect(await listedChargeExists(database.db, accountId, cursor.id)).toBe(isListed);
      const whole = expected({ accountId });
      const rest = new Set(isListed ? whole.slice(whole.indexOf(cursor.id) + 1) : []);
      expect(found).toEqual(expected(wanted).filter((id) => rest.has(id)));
    }),
    { numRuns: scaled(60, 5_000) },
  );
});
