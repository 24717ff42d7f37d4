import { deadlineIn } from '@pixmesh/http/deadline';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { leaseProcessingCharge } from '#charge/charge-checks.sql.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { aNewCharge } from '#test/a-new-charge.ts';
import { RECEIVER } from '#test/charges-under-test.ts';

import type { IssuingDeps } from './issuing-deps.ts';
import { createIssuing } from './issuing.ts';

const LEASE_MS = 60_000;
const TIMEOUT_MS = 10_000;

let database: TestDatabase;
/** Calls that issue a charge. */
let calls: number;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
beforeEach(() => {
  calls = 0;
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => vi.useRealTimers());
afterAll(() => database[Symbol.asyncDispose]());

/** A database whose answers come so much later, by this process's clock. */
function answeringAfter(ms: number): Queryable {
  return {
    query: async (statement) => {
      const rows = await database.db.query(statement);
      vi.advanceTimersByTime(ms);
      return rows as never;
    },
  };
}

function theIssuing() {
  const deps: Partial<IssuingDeps> = {
    db: database.db,
    moves: createChargeMoves(database.db),
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    acquirerTimeoutMs: TIMEOUT_MS,
    giveUpMs: LEASE_MS,
    leaseMs: LEASE_MS,
    processingChecks: { firstMs: LEASE_MS, maxMs: LEASE_MS },
    acquirer: {
      getCharge: () => Promise.resolve({ kind: 'not_found' }),
      issueCharge: () => {
        calls += 1;
        return Promise.resolve({ kind: 'unknown', cause: 'timeout' });
      },
    } as unknown as IssuingDeps['acquirer'],
  };
  return createIssuing(deps as IssuingDeps);
}

test.each([
  { answeredAfterMs: LEASE_MS - TIMEOUT_MS, expected: 0 },
  { answeredAfterMs: LEASE_MS - TIMEOUT_MS - 1, expected: 1 },
])(
  'a new charge is issued only while the call ends within its lease: answered $answeredAfterMs ms after the insert began, $expected calls',
  async ({ answeredAfterMs, expected }) => {
    const charge = await aNewCharge(answeringAfter(answeredAfterMs));
    const issued = theIssuing().issueNew(charge, deadlineIn(LEASE_MS));
    await expect(issued).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(calls).toBe(expected);
  },
);

test('a charge is not issued again by a check whose lease was answered too late', async () => {
  const { id } = await aNewCharge(database.db);
  await database.db.query(sql`
    update charges set lease_until = now() - interval '1 second', last_put_at = now() - interval '1 hour'
    where id = ${id}`);
  const late = answeringAfter(LEASE_MS - TIMEOUT_MS);
  const leased = await leaseProcessingCharge(late, id, LEASE_MS);
  if (leased === null) throw new Error('the lease is not over');
  expect(await theIssuing().check(leased)).toBe('not_found');
  expect(calls).toBe(0);
  expect(await findAnyCharge(database.db, id)).toMatchObject({
    status: 'processing',
    unansweredCalls: 1,
  });
});
