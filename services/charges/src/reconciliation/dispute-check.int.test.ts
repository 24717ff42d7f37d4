import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { applyInfraction, type ApplyDeps } from '#disputes/apply-infraction.ts';
import { anInfraction } from '#test/a-dispute.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge, type StoredCharge } from '#test/store-charge.ts';

import { disputeCheck } from './dispute-check.ts';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let charge: StoredCharge;
let endToEndId: string;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
beforeEach(async () => {
  endToEndId = `E${newId()}`;
  charge = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    values (${endToEndId}, ${charge.id}, ${charge.accountId}, 12345, now(), 'credit')`);
});
afterAll(() => database[Symbol.asyncDispose]());

function deps(): ApplyDeps {
  return {
    db: database.db,
    receiver: RECEIVER,
    logger: createLogger('charges', 'silent'),
    returnWindowMs: 100 * HOUR_MS,
    wakeOutbox: () => undefined,
    checkReturns: () => Promise.resolve(false),
    noticePix: () => Promise.resolve(),
  };
}

/** A dispute of the Pix, whose block moved nothing at the ledger; and whether that is a break. */
async function isUnbooked(): Promise<boolean> {
  const opened = anInfraction({ endToEndId, openedAt: new Date(), deadlineAt: hoursAhead(48) });
  expect(await applyInfraction(deps(), opened)).toBe('done');
  const { breaks } = await disputeCheck({
    ...deps(),
    acquirer: {
      listDisputes: () =>
        Promise.resolve({ kind: 'page', items: [opened], unreadable: [], hasMore: false }),
    },
    ledger: { findJournals: () => Promise.resolve(new Map()) },
  }).run({ since: null, knownIds: [], signal: AbortSignal.timeout(60_000) });
  return breaks.some(({ id, kind }) => id === opened.id && kind === 'unbooked');
}

function hoursAhead(hours: number): Date {
  return new Date(Date.now() + hours * HOUR_MS);
}

test('a block that moved nothing of an untouched Pix is a break', async () => {
  expect(await isUnbooked()).toBe(true);
});

test('and is none where a refund held the Pix when the dispute came, also once the refund has failed', async () => {
  await database.db.query(sql`
    insert into refunds (
      id, charge_id, account_id, end_to_end_id, amount, status, failure_reason, hold_id, requested_by, fingerprint, ended_at
    )
    values (
      ${newId()}, ${charge.id}, ${charge.accountId}, ${endToEndId}, 12345, 'failed', 'refused', ${newId()}, ${newId()},
      '\\x00', now()
    )`);
  expect(await isUnbooked()).toBe(false);
});

test('or the block of a dispute that was lost before it', async () => {
  const lost = anInfraction({ endToEndId, openedAt: hoursAhead(-50), deadlineAt: hoursAhead(-2) });
  expect(await applyInfraction(deps(), lost)).toBe('done');
  await database.db.query(sql`
    update disputes set status = 'lost', resolved_at = now() where infraction_id = ${lost.id}`);
  await database.db.query(sql`update charges set status = 'paid' where id = ${charge.id}`);
  expect(await isUnbooked()).toBe(false);
});
