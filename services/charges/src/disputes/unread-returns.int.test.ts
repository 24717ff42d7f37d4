import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { disputeCheck } from '#reconciliation/dispute-check.ts';
import { anInfraction } from '#test/a-dispute.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge, type StoredCharge } from '#test/store-charge.ts';

import { applyInfraction, type ApplyDeps } from './apply-infraction.ts';
import { findByInfraction } from './disputes.sql.ts';
import { endBlocks } from './end-blocks.ts';

/** Disputes that were lost before the acquirer has answered what it returned, and whose time for that is over. */

const HOUR_MS = 3_600_000;

let database: TestDatabase;
/** Whether the acquirer answers what has returned of a Pix. */
let areReturnsRead: boolean;
let deps: ApplyDeps;
let charge: StoredCharge;
let opened: AcquirerDispute;
let lost: AcquirerDispute;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  deps = {
    db: database.db,
    receiver: RECEIVER,
    logger: createLogger('charges', 'silent'),
    returnWindowMs: 100 * HOUR_MS,
    wakeOutbox: () => undefined,
    checkReturns: () => Promise.resolve(areReturnsRead),
    noticePix: () => Promise.resolve(),
  };
});
beforeEach(async () => {
  areReturnsRead = false;
  const endToEndId = `E${newId()}`;
  charge = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    values (${endToEndId}, ${charge.id}, ${charge.accountId}, 12345, now(), 'credit')`);
  opened = anInfraction({ endToEndId, openedAt: hoursAgo(200), deadlineAt: hoursAgo(-48) });
  lost = { ...opened, status: 'accepted', decidedAt: hoursAgo(150) };
});
afterAll(() => database[Symbol.asyncDispose]());

const isOurs = () => Promise.resolve(true);

function hoursAgo(hours: number): Date {
  return new Date(Date.now() - hours * HOUR_MS);
}

test('the block of a lost dispute stands until the acquirer answers what has returned', async () => {
  expect(await applyInfraction(deps, opened)).toBe('done');
  expect(await applyInfraction(deps, lost)).toBe('done');
  await endBlocks(deps, isOurs);
  expect(await findByInfraction(database.db, lost.id)).toMatchObject({
    status: 'lost',
    block: 'standing',
  });
  areReturnsRead = true;
  await endBlocks(deps, isOurs);
  expect(await findByInfraction(database.db, lost.id)).toMatchObject({ block: 'ended' });
});

/** What reconciliation finds of the lost dispute, when it was lost so long ago, beside what the acquirer lists. */
async function findBreaks(lostForHours: number, items: AcquirerDispute[] = []) {
  const openedAt = items.length > 0 ? lost.openedAt : hoursAgo(130 * 24);
  await database.db.query(sql`
    update disputes set opened_at = ${openedAt}, resolved_at = ${hoursAgo(lostForHours)}
    where infraction_id = ${lost.id}`);
  const { breaks } = await disputeCheck({
    ...deps,
    acquirer: {
      listDisputes: () => Promise.resolve({ kind: 'page', items, unreadable: [], hasMore: false }),
    },
    ledger: { findJournals: () => Promise.resolve(new Map()) },
  }).run({ since: null, knownIds: [], signal: AbortSignal.timeout(60_000) });
  return breaks.filter(({ id }) => id === lost.id);
}

test('a block that outlives its time by an hour is a break until it ends, however old its dispute is', async () => {
  await applyInfraction(deps, opened);
  await applyInfraction(deps, lost);
  expect(await findBreaks(100.9)).toEqual([]);
  const kept = {
    kind: 'state',
    expected: 'ended',
    found: 'standing',
    amountCents: lost.amountCents,
  };
  expect(await findBreaks(101.1)).toMatchObject([kept]);
  await endBlocks(deps, isOurs);
  expect(await findBreaks(1_000)).toMatchObject([kept]);
  areReturnsRead = true;
  await endBlocks(deps, isOurs);
  expect(await findBreaks(1_000)).toEqual([]);
});

test('a kept block is not a second break beside another state at the acquirer', async () => {
  await applyInfraction(deps, opened);
  await applyInfraction(deps, lost);
  await database.db.query(
    sql`update charges set end_to_end_id = accepted_e2e where id = ${charge.id}`,
  );
  const states = (await findBreaks(1_000, [opened])).filter(({ kind }) => kind === 'state');
  expect(states).toHaveLength(1);
  expect(states[0]?.found).not.toBe('standing');
});

test('a dispute that arrived lost leaves its charge as it is until the acquirer answers what has returned', async () => {
  expect(await applyInfraction(deps, lost)).toBe('waiting');
  expect(await findAnyCharge(database.db, charge.id)).toMatchObject({ status: 'paid' });
  areReturnsRead = true;
  expect(await applyInfraction(deps, lost)).toBe('done');
  expect(await findAnyCharge(database.db, charge.id)).toMatchObject({ status: 'charged_back' });
});
