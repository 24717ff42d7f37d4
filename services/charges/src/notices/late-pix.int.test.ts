import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { readListRound } from '@pixmesh/testkit/read-list-round';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';

const LATE_RECEIVED = 'received.late';
/** More than an ordinary run goes back, and less than the overlap. */
const SHOWN_LATE_S = 300;
const RUNS_WATCHED = 5;

let charges: ChargesUnderTest;

/** No callback reaches the service in this file, and what is shown late is looked for when a test asks for it. */
beforeAll(async () => {
  charges = await startChargesUnderTest({
    RECEIVED_LIST_MS: '200',
    RECEIVED_LIST_LATE_MS: '3600000',
    ACQUIRER_TIMEOUT_MS: '4000',
  });
  await eventually(async () => {
    if ((await runsOf(LATE_RECEIVED)) === 0) throw new Error('the lists are not read yet');
  });
});
afterEach(async () => {
  await charges.simulator.control('DELETE', '/control/clock');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

async function runsOf(name: string): Promise<number> {
  const [row] = await charges.db.query<{ checks: number }>(
    sql`select checks from acquirer_lists where name = ${name}`,
  );
  return row?.checks ?? 0;
}

/** Money that names no charge, so that nothing but the list shows it; the acquirer dates it so many seconds ago. */
async function aPix(secondsAgo: number): Promise<string> {
  await charges.simulator.control('POST', '/control/clock', { advance_seconds: -secondsAgo });
  const received = (await charges.simulator.control('POST', '/control/pix', {
    amount: 700,
  })) as Json;
  await charges.simulator.control('DELETE', '/control/clock');
  return received.end_to_end_id;
}

async function expectRecorded(endToEndId: string): Promise<void> {
  await eventually(async () => {
    expect(
      await charges.db.query(
        sql`select reason from received_pix where end_to_end_id = ${endToEndId}`,
      ),
    ).toEqual([{ reason: 'unowned' }]);
  });
}

/** Nothing of a Pix that was read is lost: it is noticed, or recorded already. */
async function wasRead(endToEndId: string): Promise<boolean> {
  const rows = await charges.db.query(sql`
    select from pix_notices where end_to_end_id = ${endToEndId}
    union all
    select from received_pix where end_to_end_id = ${endToEndId}`);
  return rows.length > 0;
}

async function waitForOrdinaryRuns(): Promise<void> {
  const before = await runsOf('received');
  await eventually(async () => {
    expect(await runsOf('received')).toBeGreaterThanOrEqual(before + RUNS_WATCHED);
  });
}

test('a Pix that no callback announced is found by the next ordinary run', async () => {
  const endToEndId = await aPix(0);
  await expectRecorded(endToEndId);
  expect(await runsOf(LATE_RECEIVED)).toBe(1);
});

test('a Pix that the acquirer shows minutes late is left to the late reading, which finds it', async () => {
  const endToEndId = await aPix(SHOWN_LATE_S);
  await waitForOrdinaryRuns();
  expect(await wasRead(endToEndId)).toBe(false);
  await readListRound(charges.db, LATE_RECEIVED);
  await expectRecorded(endToEndId);
});
