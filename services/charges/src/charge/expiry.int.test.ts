import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { ChargeStatus } from '@pixmesh/contracts/http/charge';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aChargeRow } from '#test/a-charge-row.ts';
import { storeCharge, type StoredCharge } from '#test/store-charge.ts';
import { listCharges } from '#charge/reads/list-charges.sql.ts';

import type { StoredStatus } from './charge-row.ts';
import { findCharge } from './charges.sql.ts';
import { isExpired, shownStatus } from './expiry.ts';
import { isShownAs } from './expiry.sql.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

const STORED = ChargeStatus.options.filter((status) => status !== 'expired') as StoredStatus[];

/** Instants about now, the very millisecond of it among them, and about the steps of lifetimes. */
const offsetMs = fc.oneof(
  fc.constantFrom(-1, 0, 1),
  fc.integer({ min: -700_000_000, max: 700_000_000 }),
);
const lifetimeMs = fc.oneof(
  fc.constantFrom(-1, 0, 1, 59_999, 60_000, 60_999, 61_000, 3_600_000, 604_800_000, 604_801_000),
  fc.integer({ min: -1_000, max: 700_000_000 }),
);
const someCharge = fc.record({
  status: fc.oneof(fc.constant<StoredStatus>('pending'), fc.constantFrom(...STORED)),
  isAccepted: fc.boolean(),
  expiresInMs: offsetMs,
  lifetimeMs,
});

test('database and code agree on who has expired, and a list by status shows who is shown with it, at any instant', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someCharge, { minLength: 1, maxLength: 8 }), async (charges) => {
      // The database's now stands still within a transaction: charges expire at this very instant.
      await database.db.transaction(async (tx) => {
        const [clock] = await tx.query<{ now: Date }>(
          sql`select date_trunc('milliseconds', now()) as now`,
        );
        const nowMs = clock?.now.getTime() ?? 0;
        const accountId = newId<StoredCharge['accountId']>();
        const shown = new Map<string, ChargeStatus>();
        for (const one of charges) {
          const expiresAt = new Date(nowMs + one.expiresInMs);
          const { id } = await storeCharge(tx, {
            accountId,
            status: one.status,
            acceptedE2e: one.isAccepted ? newId() : null,
            expiresAt,
            createdAt: new Date(expiresAt.getTime() - one.lifetimeMs),
          });
          const isPast =
            one.status === 'pending' && !one.isAccepted && expiresAt.getTime() <= nowMs;
          shown.set(id, isPast ? 'expired' : one.status);
          const row = await findCharge(tx, accountId, id);
          expect(row && [shownStatus(row), row.readAt.getTime()]).toEqual([shown.get(id), nowMs]);
        }
        for (const status of ChargeStatus.options) {
          const wanted = [...shown].filter(([, as]) => as === status).map(([id]) => id);
          const found = await tx.query<{ id: string }>(
            sql`select id from charges where account_id = ${accountId} and ${isShownAs(status)}`,
          );
          expect(found.map(({ id }) => id).sort()).toEqual(wanted.toSorted());
          const page = { limit: 100, startingAfter: null };
          const listed = await listCharges(tx, { accountId, status }, page);
          expect(listed.map(({ id }) => id).sort()).toEqual(wanted.toSorted());
          expect(new Set(listed.map(shownStatus))).toEqual(
            new Set(wanted.length > 0 ? [status] : []),
          );
        }
      });
    }),
    { numRuns: scaled(30, 3_000) },
  );
});

test('a charge expires at its instant, not before, and never while it is being paid', () => {
  const charge = aChargeRow({ expiresAt: new Date(1_000) });
  expect([999, 1_000, 1_001].map((at) => isExpired(charge, new Date(at)))).toEqual([
    false,
    true,
    true,
  ]);
  expect(isExpired({ ...charge, acceptedE2e: 'E1' }, new Date(1_001))).toBe(false);
  expect(isExpired({ ...charge, status: 'paid' }, new Date(1_001))).toBe(false);
});
