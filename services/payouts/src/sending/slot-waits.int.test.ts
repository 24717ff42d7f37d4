import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { newId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import { BEFORE_ALL_ACCOUNTS } from '@pixmesh/postgres/accounts-in-turn';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { createIntentCommits } from '#creation/commit-intents.sql.ts';
import { anIntent } from '#test/an-intent.ts';
import { startSendingUnderTest, type SendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { type Claim, claimDue } from './claim-due.sql.ts';
import { ensureSlots, letSlotWait } from './send-slots.sql.ts';

/** Calls are counted here: a busy machine must leave none without an answer. */
const ACQUIRER_TIMEOUT_MS = 4_000;
/** Longer than a test. */
const WAIT_MS = 300_000;
const WAITING = { slots: 1, slotWaitMs: WAIT_MS };

let mesh: SendingUnderTest;
beforeAll(async () => {
  mesh = await startSendingUnderTest(ACQUIRER_TIMEOUT_MS);
  await ensureSlots(mesh.db, 1);
});
afterEach(async () => {
  await mesh.simulator.control('DELETE', '/control/faults');
  await mesh.db.query(sql`update payouts set send_at = null where send_at is not null`);
  await mesh.db.query(
    sql`update send_slots set lease_token = null, lease_until = null, waits_for = null`,
  );
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

/** The real client, watched: which payouts are ordered, and when. `before` runs before each call. */
function watched(before: (idEnvio: string) => Promise<void> = () => Promise.resolve()) {
  const ordered: { idEnvio: string; atMs: number }[] = [];
  const sendPayout: Acquirer['sendPayout'] = async (input, options) => {
    ordered.push({ idEnvio: input.idEnvio, atMs: performance.now() });
    await before(input.idEnvio);
    return await mesh.acquirer.sendPayout(input, options);
  };
  const order = () => ordered.map(({ idEnvio }) => idEnvio);
  return { ordered, order, acquirer: { ...mesh.acquirer, sendPayout } };
}

/** The database, where claims are counted when they are over. */
function countingClaims() {
  const claims = { made: 0 };
  const db: Database = {
    ...mesh.db,
    query: async (statement) => {
      const rows = await mesh.db.query(statement);
      if (statement.name === 'payouts_claim_due') claims.made += 1;
      return rows as never;
    },
  };
  return { claims, db };
}

async function twoDue(): Promise<[PayoutId, PayoutId]> {
  return (await storeDuePayouts(mesh.db, 2)) as [PayoutId, PayoutId];
}

async function untilCompleted(ids: readonly PayoutId[]): Promise<void> {
  await eventually(async () => {
    await mesh.ledger.answerAll();
    const [row] = await mesh.db.query<{ completed: number }>(sql`
      select count(*)::int as completed
      from payouts
      where id = any(${ids}::uuid[]) and status = 'completed'`);
    expect(row?.completed).toBe(ids.length);
  }, 30_000);
}

async function claim(): Promise<Claim[]> {
  const turn = { limit: 1, slots: 1, after: BEFORE_ALL_ACCOUNTS };
  return await claimDue(mesh.db, { ...turn, leaseMs: WAIT_MS });
}

async function claimOne(): Promise<Claim> {
  const [claimed] = await claim();
  if (!claimed) throw new Error('nothing was claimed');
  return claimed;
}

async function letWait(claimed: Claim): Promise<void> {
  await letSlotWait(mesh.db, claimed, { payoutId: claimed.payout.id, waitMs: WAIT_MS });
}

test('with one slot the second payout is ordered when the first has ended, and not before', async () => {
  const [first, second] = await twoDue();
  const { order, acquirer } = watched();
  const { claims, db } = countingClaims();
  await using workers = await mesh.startWorkers({ ...WAITING, acquirer, db });
  await eventually(async () => expect((await mesh.find(first)).ending).toBe('settle'));
  const madeBefore = claims.made;
  await eventually(() => expect(claims.made).toBeGreaterThan(madeBefore + 2));
  expect(order()).toEqual([toAcquirerId(first)]);
  await untilCompleted([first]);
  await eventually(() => expect(order()).toEqual([first, second].map(toAcquirerId)));
  await untilCompleted([second]);
  expect(workers.sender.isAlive()).toBe(true);
});

test('after the wait the next payout is ordered although nothing is known of the one before', async () => {
  await mesh.faults(
    { operation: 'sendPayout', fault: 'error_before', status: 503, count: 1 },
    { operation: 'getPayout', fault: 'error_before', status: 503 },
  );
  const [first, second] = await twoDue();
  const { ordered, order, acquirer } = watched();
  await using workers = await mesh.startWorkers({ slots: 1, slotWaitMs: 1_000, acquirer });
  await eventually(() => expect(order()).toEqual([first, second].map(toAcquirerId)));
  const [one, next] = ordered;
  expect((next?.atMs ?? 0) - (one?.atMs ?? 0)).toBeGreaterThan(900);
  expect(await mesh.find(first)).toMatchObject({ status: 'processing', unansweredCalls: 1 });
  await mesh.simulator.control('DELETE', '/control/faults');
  await untilCompleted([first, second]);
  expect(workers.statusCheck.isAlive()).toBe(true);
});

test('a payout that is to be sent again frees its slot, and is ordered again under its own id', async () => {
  await mesh.faults({ operation: 'sendPayout', fault: 'error_before', status: 503, count: 1 });
  const [first, second] = await twoDue();
  const { order, acquirer } = watched();
  await using workers = await mesh.startWorkers({ ...WAITING, acquirer });
  await untilCompleted([first, second]);
  expect(order()).toEqual([first, second, first].map(toAcquirerId));
  expect(workers.sender.isAlive()).toBe(true);
});

test('of two processes neither orders a payout before the one before it has ended', async () => {
  const ids = await storeDuePayouts(mesh.db, 5);
  const early: unknown[] = [];
  const { order, acquirer } = watched(async (idEnvio) => {
    const open = await mesh.db.query<{ id: PayoutId }>(sql`
      select id
      from payouts
      where id = any(${ids}::uuid[]) and first_put_at is not null and status = 'processing'`);
    early.push(...open.filter(({ id }) => toAcquirerId(id) !== idEnvio));
  });
  await using first = await mesh.startWorkers({ ...WAITING, acquirer });
  await using second = await mesh.startWorkers({ ...WAITING, acquirer });
  await untilCompleted(ids);
  expect(early).toEqual([]);
  expect(order()).toEqual(ids.map(toAcquirerId));
  expect(first.sender.isAlive() && second.sender.isAlive()).toBe(true);
});

test('without a wait the slot serves the next payout as soon as its call has ended', async () => {
  const [first, second] = await twoDue();
  const { order, acquirer } = watched();
  await using workers = await mesh.startWorkers({ slots: 1, acquirer });
  await eventually(() => expect(order()).toEqual([first, second].map(toAcquirerId)));
  expect((await mesh.find(first)).status).toBe('processing');
  await untilCompleted([first, second]);
  expect(workers.sender.isAlive()).toBe(true);
});

test('with a wait a claim sends what is committed, whatever was sent before', async () => {
  const commits = createIntentCommits(mesh.db);
  const leases: (number | null)[] = [];
  await using workers = await mesh.startWorkers(WAITING);
  for (let made = 0; made < 2; made += 1) {
    const intent = await anIntent(mesh.db);
    const payout = await workers.sender.sendAtOnce((leaseMs) => {
      leases.push(leaseMs);
      return commits.commit(intent, leaseMs);
    });
    expect(payout).toMatchObject({ id: intent.id, status: 'processing', unansweredCalls: 0 });
    await untilCompleted([intent.id]);
  }
  expect(leases).toEqual([null, null]);
});

test('the slot of a sender that dies in a call waits as long', async () => {
  await mesh.faults({ operation: 'sendPayout', fault: 'hang', delay_ms: 60_000, count: 1 });
  const [id] = (await storeDuePayouts(mesh.db, 1)) as [PayoutId];
  await using workers = await mesh.startWorkers(WAITING);
  await eventually(async () => expect((await mesh.find(id)).unansweredCalls).toBe(1));
  const waiting = await mesh.db.query(sql`
    select slot
    from send_slots
    where lease_token is not null and lease_until > now() + ${WAIT_MS}::int * interval '1 ms'`);
  expect(waiting).toEqual([{ slot: 1 }]);
  await untilCompleted([id]);
  expect(workers.sender.isAlive()).toBe(true);
});

test('a sender whose lease has ended does not let the slot of the next one wait', async () => {
  await storeDuePayouts(mesh.db, 2);
  const former = await claimOne();
  await mesh.db.query(sql`update send_slots set lease_until = now() - interval '1 ms'`);
  const next = await claimOne();
  await letWait(former);
  const slots = await mesh.db.query(sql`select lease_token, waits_for from send_slots`);
  expect(slots).toEqual([{ lease_token: next.slotToken, waits_for: null }]);
});

test('a slot that the version before has leased is not free by what it had waited for', async () => {
  await storeDuePayouts(mesh.db, 2);
  const claimed = await claimOne();
  await letWait(claimed);
  await mesh.db.query(sql`update payouts set status = 'completed' where id = ${claimed.payout.id}`);
  await mesh.db.query(sql`
    update send_slots
    set lease_token = ${newId()}::uuid, lease_until = now() + interval '1 minute'`);
  expect(await claim()).toEqual([]);
});
