import { newId } from '@pixmesh/kernel/ids';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { smallestIdOf } from '#deliveries/id-of-instant.ts';
import { aLogged, storeLogged } from '#test/logged-deliveries.ts';

import { candidatesStatement } from './find-candidates.sql.ts';
import type { RecoveryRow } from './recovery-row.ts';
import { SCANNED_PER_STEP_MAX } from './step-recovery.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const accountId = newId();
/**
 * In the middle of a week, as its partitions begin on a Monday: one with few rows is read as a whole for each event.
 */
const nowMs = Math.floor((Date.now() + 3 * DAY_MS) / WEEK_MS) * WEEK_MS + DAY_MS / 2;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  const count = 30_000;
  const rows = Array.from({ length: count }, (_, place) =>
    aLogged({
      atMs: nowMs + Math.floor((4 * WEEK_MS * place) / count),
      accountId: place % 3 === 0 ? accountId : newId(),
      resourceId: newId(),
      endpointId: null,
      event: place % 2 === 0 ? 'charge.pix.created' : 'charge.pix.paid',
      status: place % 50 === 0 ? 'failed' : 'succeeded',
    }),
  );
  await storeLogged(database, rows);
}, 120_000);
afterAll(() => database[Symbol.asyncDispose]());

function aRecovery(changes: Partial<RecoveryRow>): RecoveryRow {
  return {
    id: newId(),
    accountId,
    applicationId: null,
    endpointId: null,
    event: null,
    statuses: ['failed'],
    createdFrom: new Date(nowMs),
    createdUntil: new Date(nowMs + 5 * WEEK_MS),
    ratePerSecond: 50,
    status: 'running',
    position: null,
    queuedCount: 0,
    succeededCount: 0,
    failedCount: 0,
    fingerprint: Buffer.alloc(0),
    createdAt: new Date(),
    endedAt: null,
    ...changes,
  };
}

test.each([
  { name: 'at its beginning', changes: {} },
  { name: 'in the middle', changes: { position: smallestIdOf(nowMs + 2 * WEEK_MS) } },
  { name: 'at its end', changes: { position: smallestIdOf(nowMs + 4 * WEEK_MS) } },
  { name: 'for one event', changes: { event: 'charge.pix.paid' } },
  { name: 'for an event that there is none of', changes: { event: 'dispute.pix.lost' } },
  { name: 'for an application', changes: { applicationId: newId() } },
  { name: 'of an account without deliveries', changes: { accountId: newId() } },
])('a step of a recovery reads a bounded part of the history $name', async ({ changes }) => {
  const statement = candidatesStatement(aRecovery(changes), SCANNED_PER_STEP_MAX);
  const { name: _name, ...unnamed } = statement;
  const { rowsRead, pagesRead } = await explainStatement(database.db, unnamed);
  // Of each of the two kinds of events, and what belongs to the ones that are read.
  expect(rowsRead).toBeLessThanOrEqual(4 * SCANNED_PER_STEP_MAX);
  expect(pagesRead).toBeLessThanOrEqual(8 * SCANNED_PER_STEP_MAX);
});
