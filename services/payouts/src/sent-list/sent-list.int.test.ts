import type { ListReading } from '@pixmesh/acquirer-lists/list-reading';
import { startListsJob } from '@pixmesh/acquirer-lists/lists.job';
import { listReturnContradictions } from '@pixmesh/acquirer-lists/return-contradictions.sql';
import type { AcquirerPayout, PixReturn } from '@pixmesh/acquirer/acquirer';
import { newId, type PayoutId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { readListRound } from '@pixmesh/testkit/read-list-round';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { startSendingUnderTest, type SendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';
import { storePayout } from '#test/store-payout.ts';

import { requestDiffering } from './sent-list.sql.ts';
import { sentReadings } from './sent-readings.ts';

/** No callback reaches anybody in this file, and nothing is read but when a test asks for it. */
const NEVER_MS = 3_600_000;
const PERIODS = { intervalMs: NEVER_MS, lateIntervalMs: NEVER_MS, overlapMs: 900_000 };
const DAY_S = 86_400;
/** More than an ordinary run goes back, and less than the overlap. */
const TEN_MINUTES_D = 600 / DAY_S;

let mesh: SendingUnderTest;
const running: AsyncDisposable[] = [];
beforeAll(async () => {
  mesh = await startSendingUnderTest();
  const { db, acquirer, deps } = mesh;
  const workers = await mesh.startWorkers();
  const readings = sentReadings({
    db,
    logger: deps.logger,
    acquirer,
    ...PERIODS,
    wakeStatusChecks: () => undefined,
  });
  const lists = startListsJob({ db, logger: deps.logger, readings });
  running.push(lists, workers);
  await eventually(async () => {
    const rows = await db.query(sql`select from acquirer_lists where checks > 0`);
    if (rows.length < readings.length) throw new Error('the lists are not read yet');
  });
});
afterEach(async () => {
  await mesh.simulator.control('DELETE', '/control/faults');
  await mesh.simulator.control('DELETE', '/control/clock');
});
afterAll(async () => {
  for (const one of running) await one[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
});

/** A payout that the acquirer was ordered `daysAgo`, by its own clock, and that has ended. */
async function anEndedPayout(status: 'completed' | 'failed', daysAgo: number): Promise<PayoutId> {
  await mesh.simulator.control('POST', '/control/clock', { advance_seconds: -daysAgo * DAY_S });
  if (status === 'failed') await mesh.faults({ operation: 'settlePayout', fault: 'refusal' });
  const [id] = (await storeDuePayouts(mesh.db, 1)) as [PayoutId];
  await eventually(async () => {
    await mesh.ledger.answerAll();
    expect((await mesh.find(id)).status).toBe(status);
  });
  await mesh.simulator.control('DELETE', '/control/clock');
  await mesh.simulator.control('DELETE', '/control/faults');
  return id;
}

async function contradict(id: PayoutId, status: 'REALIZADO' | 'NAO_REALIZADO'): Promise<void> {
  await mesh.simulator.control('POST', `/control/sends/${id}/contradict`, { status });
}

async function returnsOf(id: PayoutId) {
  return await mesh.db.query<{ amount: bigint }>(
    sql`select amount from payout_returns where payout_id = ${id}`,
  );
}

/** Returns are append-only for the service itself. */
async function bookedEarlier(id: PayoutId): Promise<void> {
  await using admin = createPool({ url: mesh.adminUrl, applicationName: 'test', max: 1 });
  await admin.query(sql`
    update payouts.payout_returns set recorded_at = recorded_at - interval '2 minutes' where payout_id = ${id}`);
}

async function checksOf(id: PayoutId) {
  const [row] = await mesh.db.query(
    sql`select checks, check_at, version from payouts where id = ${id}`,
  );
  return row;
}

describe('a difference that no callback announced', () => {
  test.each([
    { daysAgo: 0, reading: 'sent' },
    { daysAgo: 6, reading: 'sent.recent' },
    { daysAgo: 100, reading: 'sent.older' },
  ])(
    'money that came back of $daysAgo days ago is booked: $reading',
    async ({ daysAgo, reading }) => {
      const id = await anEndedPayout('completed', daysAgo);
      const { end_to_end_id: endToEndId } = (await mesh.journalOf(id))[0] ?? {};
      await mesh.simulator.control('POST', `/control/pix/${endToEndId}/returns`, { amount: 400 });
      await readListRound(mesh.db, reading);
      await eventually(async () => expect(await returnsOf(id)).toEqual([{ amount: 400n }]));
      expect(await mesh.eventsOf(id)).toContain('payout_return.credit');
      expect((await mesh.find(id)).status).toBe('completed');
    },
  );

  test.each([
    { was: 'completed', turns: 'NAO_REALIZADO', kind: 'failed_after_completed' },
    { was: 'failed', turns: 'REALIZADO', kind: 'completed_after_failed' },
  ] as const)('$kind goes to suspense, once', async ({ was, turns, kind }) => {
    const id = await anEndedPayout(was, 3);
    await contradict(id, turns);
    await readListRound(mesh.db, 'sent.recent');
    await eventually(async () => expect((await mesh.find(id)).contradiction).toBe(kind));
    expect((await mesh.find(id)).status).toBe(was);
    const before = await checksOf(id);
    await readListRound(mesh.db, 'sent.recent');
    expect(await checksOf(id)).toEqual(before);
    const events = await mesh.eventsOf(id);
    expect(events.filter((type) => type === 'payout.suspend')).toHaveLength(1);
  });

  test('an end that nobody has asked for yet is found', async () => {
    await mesh.faults({ operation: 'settlePayout', fault: 'hang' });
    const [id] = (await storeDuePayouts(mesh.db, 1)) as [PayoutId];
    await eventually(async () => expect((await mesh.find(id)).processedAt).not.toBeNull());
    await mesh.db.query(sql`update payouts set check_at = null where id = ${id}`);
    await mesh.simulator.control('POST', `/control/sends/${id}/settle`, {});
    await readListRound(mesh.db, 'sent');
    await eventually(async () => expect((await mesh.find(id)).ending).toBe('settle'));
    await mesh.ledger.answerAll();
  });
});

test('a return that cannot be booked requests no check, round after round', async () => {
  const id = newId<PayoutId>();
  const accountId = newId();
  const send = {
    id,
    status: 'settled',
    returned: [{ returnId: 'D2', amountCents: 600n }],
  } as const;
  await storePayout(mesh.db, { id, status: 'completed' });
  await mesh.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    values (${`E-${id}`}, 'D1', ${id}, ${accountId}, 400)`);
  await mesh.db.transaction(async (tx) => {
    const requested = async () => await requestDiffering(tx, [send]);
    const free = sql`update payouts set check_at = null where id = ${id}`;
    expect(await requested()).toBe(1);
    await tx.query(free);
    await tx.query(
      sql`update payouts set contradiction = 'failed_after_completed' where id = ${id}`,
    );
    expect(await requested()).toBe(0);
    await tx.query(sql`update payouts set contradiction = null, amount = 999 where id = ${id}`);
    expect(await requested()).toBe(0);
  });
});

test('an order that the acquirer shows minutes late is left to the late reading, which finds it', async () => {
  const id = await anEndedPayout('completed', TEN_MINUTES_D);
  await contradict(id, 'NAO_REALIZADO');
  await readListRound(mesh.db, 'sent');
  expect((await mesh.find(id)).contradiction).toBeNull();
  await readListRound(mesh.db, 'sent.late');
  await eventually(async () =>
    expect((await mesh.find(id)).contradiction).toBe('failed_after_completed'),
  );
});

test('a return that was carried out and is not any more is logged, once, until it is again', async () => {
  const id = await anEndedPayout('completed', 5);
  const { end_to_end_id: endToEndId } = (await mesh.journalOf(id))[0] ?? {};
  await mesh.simulator.control('POST', `/control/pix/${endToEndId}/returns`, { amount: 400 });
  await readListRound(mesh.db, 'sent.recent');
  await eventually(async () => expect(await returnsOf(id)).toHaveLength(1));
  // A page that was on its way when the return was booked tells nothing.
  expect(await contradictionsAfter('failed')).toEqual([]);
  await bookedEarlier(id);
  for (const status of ['failed', 'failed', 'returned'] as const) {
    const known = await contradictionsAfter(status);
    expect(known).toMatchObject(status === 'returned' ? [] : [{ endToEndId, status }]);
  }
  const alerts = mesh.logLines.filter((line) => line.includes('return contradicted'));
  expect(alerts).toHaveLength(1);
  expect(await returnsOf(id)).toHaveLength(1);

  async function contradictionsAfter(status: PixReturn['status']) {
    const { read, compare } = recentShowing(status);
    const page = await read({ from: new Date(), to: new Date(), page: 0 });
    if (page.kind === 'page') await compare(page.items, page.unreadable);
    return await listReturnContradictions(mesh.db);
  }

  /** The list of now, with every return in another state: no call of the simulator takes one back. */
  function recentShowing(status: PixReturn['status']): ListReading<AcquirerPayout> {
    const { db, acquirer, deps } = mesh;
    const days = { from: new Date(Date.now() - 6 * DAY_S * 1_000), to: new Date(), page: 0 };
    const listSent = async () => {
      const outcome = await acquirer.listSent(days);
      if (outcome.kind !== 'page') return outcome;
      const items = outcome.items
        .filter((item) => item.endToEndId === endToEndId)
        .map((item) => ({ ...item, returns: item.returns.map((one) => ({ ...one, status })) }));
      return { ...outcome, items };
    };
    const wakeStatusChecks = () => undefined;
    const options = { ...PERIODS, wakeStatusChecks };
    const readings = sentReadings({ db, logger: deps.logger, acquirer: { listSent }, ...options });
    return readings.find(({ name }) => name === 'sent.recent') as ListReading<AcquirerPayout>;
  }
});

test('what agrees is not checked again, whatever else the list shows', async () => {
  const completed = await anEndedPayout('completed', 2);
  const failed = await anEndedPayout('failed', 2);
  await mesh.simulator.control('POST', '/control/sends', { amount: 700 });
  const before = [await checksOf(completed), await checksOf(failed)];
  for (const reading of ['sent', 'sent.late', 'sent.recent', 'sent.older']) {
    await readListRound(mesh.db, reading);
  }
  expect([await checksOf(completed), await checksOf(failed)]).toEqual(before);
  expect(before).toMatchObject([{ check_at: null }, { check_at: null }]);
});

test('a list that cannot be read is read again, and nothing is requested meanwhile', async () => {
  const id = await anEndedPayout('completed', 1);
  await contradict(id, 'NAO_REALIZADO');
  await mesh.faults({ operation: 'listSent', fault: 'error_before', status: 503 });
  const reading = readListRound(mesh.db, 'sent.recent');
  await eventually(() => expect(mesh.logLines.join('')).toContain('list: acquirer unavailable'));
  expect((await mesh.find(id)).contradiction).toBeNull();
  await mesh.simulator.control('DELETE', '/control/faults');
  await reading;
  await eventually(async () =>
    expect((await mesh.find(id)).contradiction).toBe('failed_after_completed'),
  );
});
