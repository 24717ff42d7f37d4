import { type AccountId, newId, type OperatorId, type PayoutId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { claimDue } from '#sending/claim-due.sql.ts';
import { ensureSlots, releaseSlots } from '#sending/send-slots.sql.ts';
import { type SendingUnderTest, startSendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { resumePayouts, stopPayouts } from './stop-payouts.ts';

let mesh: SendingUnderTest;
beforeAll(async () => {
  mesh = await startSendingUnderTest();
});
afterEach(async () => {
  await mesh.simulator.control('DELETE', '/control/faults');
  await mesh.db.query(sql`update send_slots set lease_token = null, lease_until = null`);
  await mesh.db.query(sql`update payouts set send_at = null, check_at = null`);
  await mesh.db.query(sql`
    update payout_stops set ended_at = now(), ended_by = set_by::uuid where ended_at is null`);
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

const RACES = scaled(10, 500);
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000' as AccountId;
const operatorId = newId<OperatorId>();

const stop = (accountId: AccountId | null) =>
  stopPayouts(mesh.deps, { accountId, reason: 'books', operatorId });
const resume = (accountId: AccountId | null) => resumePayouts(mesh.deps, { accountId, operatorId });
const claim = (limit = 8) =>
  claimDue(mesh.db, { limit, slots: 8, leaseMs: 60_000, after: BEFORE_ALL });
const ordersOf = async (id: PayoutId) =>
  (await mesh.journalOf(id)).filter(({ kind }) => kind === 'sent').length;

async function untilSent(ids: readonly PayoutId[]): Promise<void> {
  await eventually(async () => {
    for (const id of ids) expect((await mesh.find(id)).processedAt).not.toBeNull();
  }, 30_000);
}

test('unsent payouts of a stopped account stay as they are, those of others are sent, and after its end all are', async () => {
  const account = newId<AccountId>();
  const held = await storeDuePayouts(mesh.db, 5, { accountId: account });
  const others = await storeDuePayouts(mesh.db, 5);
  await stop(account);
  await using workers = await mesh.startWorkers();
  await untilSent(others);
  for (const id of held) {
    const { status, unansweredCalls, sendAt } = await mesh.find(id);
    expect([status, unansweredCalls, sendAt === null]).toEqual(['processing', 0, false]);
    expect(await mesh.journalOf(id)).toEqual([]);
  }
  await resume(account);
  await untilSent(held);
  expect(workers.sender.isAlive()).toBe(true);
});

test('a stop of all accounts keeps every payout, and its end sends them', async () => {
  await ensureSlots(mesh.db, 8);
  const ids = [...(await storeDuePayouts(mesh.db, 2)), ...(await storeDuePayouts(mesh.db, 2))];
  await stop(null);
  expect(await claim()).toEqual([]);
  await resume(null);
  expect((await claim()).map(({ payout }) => payout.id).toSorted()).toEqual(ids.toSorted());
});

test('a call that was made goes on being checked, and is not ordered anew before the end of the stop', async () => {
  const account = newId<AccountId>();
  const [id] = (await storeDuePayouts(mesh.db, 1, { accountId: account })) as [PayoutId];
  // The first call is lost before the acquirer has read it.
  await mesh.faults({ operation: 'sendPayout', fault: 'error_before', status: 503, count: 1 });
  await using workers = await mesh.startWorkers();
  await eventually(async () => expect((await mesh.find(id)).unansweredCalls).toBe(1));
  await stop(account);
  const { version } = await mesh.find(id);
  // Two more checks found nothing, and each asked for the same call again.
  await eventually(async () => {
    const payout = await mesh.find(id);
    expect(payout.version).toBeGreaterThan(version + 1);
    expect(payout).toMatchObject({ unansweredCalls: 1, lastCheckAnswer: 'not_found' });
  });
  expect(await ordersOf(id)).toBe(0);
  await resume(account);
  await untilSent([id]);
  expect(await ordersOf(id)).toBe(1);
  expect(workers.statusCheck.isAlive()).toBe(true);
});

test('a call that had its effect unseen is found by a check while payouts are stopped', async () => {
  const account = newId<AccountId>();
  const [id] = (await storeDuePayouts(mesh.db, 1, { accountId: account })) as [PayoutId];
  await mesh.faults({ operation: 'sendPayout', fault: 'error_after', status: 504, count: 1 });
  await using workers = await mesh.startWorkers();
  await eventually(async () => expect((await mesh.find(id)).unansweredCalls).toBe(1));
  await stop(account);
  await untilSent([id]);
  expect(workers.statusCheck.isAlive()).toBe(true);
});

test(
  'no claim that begins after a stop was answered takes a payout of it',
  { timeout: 120_000 },
  async () => {
    await ensureSlots(mesh.db, 8);
    for (let race = 0; race < RACES; race += 1) {
      const account = newId<AccountId>();
      await storeDuePayouts(mesh.db, 40, { accountId: account });
      let isStopped = false;
      const takenAfter: string[] = [];
      const sender = async () => {
        for (let turn = 0; turn < 6; turn += 1) {
          const began = isStopped;
          const claims = await claim(1);
          if (began) takenAfter.push(...claims.map(({ payout }) => payout.id));
          await releaseSlots(mesh.db, claims);
        }
      };
      const stopIt = async () => {
        await stop(race % 2 === 0 ? account : null);
        isStopped = true;
      };
      await Promise.all([stopIt(), sender(), sender(), sender(), sender()]);
      expect(takenAfter).toEqual([]);
      expect(await claim()).toEqual([]);
      await resume(race % 2 === 0 ? account : null);
      await mesh.db.query(sql`update payouts set send_at = null where account_id = ${account}`);
    }
  },
);

test('ten thousand unsent payouts of a stopped account cost others next to nothing', async () => {
  await ensureSlots(mesh.db, 8);
  // A plan that the server made, and keeps from the sixth on, while it knew of few payouts and none that was due.
  await storeDuePayouts(mesh.db, 60);
  await mesh.db.query(sql`update payouts set send_at = null`);
  await using admin = createPool({ url: mesh.adminUrl, applicationName: 'test', max: 1 });
  await admin.query(sql`analyze payouts.payouts`);
  for (let claims = 0; claims < 10; claims += 1) expect(await claim()).toEqual([]);
  const stopped = newId<AccountId>();
  await storeDuePayouts(mesh.db, 10_000, { accountId: stopped });
  const other = await storeDuePayouts(mesh.db, 1);
  await stop(stopped);
  const startedAtMs = performance.now();
  const claims = await claim();
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  expect(claims.map(({ payout }) => payout.id)).toEqual(other);
});
