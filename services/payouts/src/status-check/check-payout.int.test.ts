import { type AccountId, type PayoutId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { claimDue } from '#sending/claim-due.sql.ts';
import { sendPayout } from '#sending/send-payout.ts';
import { ensureSlots } from '#sending/send-slots.sql.ts';
import { orderEnd } from '#settlement/order-end.ts';
import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';
import { startSendingUnderTest, type SendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { checkPayoutStatus } from './check-payout.ts';
import { leaseDuePayouts, releasePayout, requestCheck } from './payout-checks.sql.ts';

let mesh: SendingUnderTest;
beforeAll(async () => {
  mesh = await startSendingUnderTest();
  await ensureSlots(mesh.db, mesh.deps.slots);
});
afterEach(async () => {
  await mesh.simulator.control('DELETE', '/control/faults');
  await mesh.db.query(sql`update payouts set send_at = null, check_at = null`);
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

const RACES = scaled(100, 10_000);
const NEVER_SETTLES = { operation: 'settlePayout', fault: 'hang' };

/** A payout that was called once; the fault script says what became of the call and of the order. */
async function aCalledPayout(...faults: object[]): Promise<PayoutId> {
  await mesh.faults(NEVER_SETTLES, ...faults);
  const [id] = await storeDuePayouts(mesh.db, 1);
  const after = '00000000-0000-0000-0000-000000000000' as AccountId;
  const claims = await claimDue(mesh.db, { limit: 1, slots: 8, leaseMs: 10_000, after });
  for (const claim of claims) await sendPayout(mesh.deps, claim, Number.POSITIVE_INFINITY);
  return id as PayoutId;
}

const ANSWER_LOST = { operation: 'sendPayout', fault: 'error_after', status: 504, count: 1 };
const CALL_LOST = { operation: 'sendPayout', fault: 'error_before', status: 503, count: 1 };

/** One check, as after a callback. */
async function check(id: PayoutId, changes: object = {}): Promise<void> {
  await requestCheck(mesh.db, id, null);
  const leased = await leaseDuePayouts(mesh.db, 'requested', { limit: 10, leaseMs: 5_000 });
  for (const payout of leased) await checkPayoutStatus({ ...mesh.deps, ...changes }, payout);
}

async function act(id: PayoutId, verb: string, body: object = {}): Promise<void> {
  await mesh.simulator.control('POST', `/control/sends/${id}/${verb}`, body);
}

async function aCompletedPayout(): Promise<PayoutId> {
  const id = await aCalledPayout();
  await act(id, 'settle');
  await check(id);
  await mesh.ledger.answerAll();
  expect((await mesh.find(id)).status).toBe('completed');
  return id;
}

async function aFailedPayout(): Promise<PayoutId> {
  const id = await aCalledPayout();
  await act(id, 'reject', { code: 'AC03', message: 'no such account' });
  await check(id);
  await mesh.ledger.answerAll();
  expect((await mesh.find(id)).status).toBe('failed');
  return id;
}

async function checkOf(id: PayoutId) {
  const [row] = await mesh.db.query<{ check_at: Date | null; lease_token: string | null }>(
    sql`select check_at, lease_token from payouts where id = ${id}`,
  );
  return row;
}

describe('an order whose answer was lost', () => {
  test('is adopted: processing is announced once, however often it is checked', async () => {
    const id = await aCalledPayout(ANSWER_LOST);
    expect(await mesh.eventsOf(id)).toEqual([]);
    await check(id);
    await check(id);
    await check(id);
    expect(await mesh.eventsOf(id)).toEqual(['payment.pix.processing']);
    const [sent] = await mesh.journalOf(id);
    expect(await mesh.find(id)).toMatchObject({
      endToEndId: sent?.end_to_end_id,
      unansweredCalls: 0,
      status: 'processing',
    });
  });

  test('and that has settled meanwhile is announced as processing before its outcome', async () => {
    const id = await aCalledPayout(ANSWER_LOST);
    await act(id, 'settle');
    await check(id);
    const [sent] = await mesh.journalOf(id);
    expect(await mesh.find(id)).toMatchObject({ status: 'processing', ending: 'settle' });
    expect(await mesh.eventsOf(id)).toEqual(['payment.pix.processing', 'hold.settle']);
    await mesh.ledger.answerAll();
    expect(await mesh.eventsOf(id)).toEqual([
      'payment.pix.processing',
      'hold.settle',
      'payment.pix.completed',
    ]);
    const [command] = await mesh.db.query<{ message: { data: object } }>(sql`
      select message from events
      where type = 'hold.settle' and message->'data'->>'resource_id' = ${id}`);
    expect(command?.message.data).toMatchObject({ end_to_end_id: sent?.end_to_end_id });
    const completed = await mesh.find(id);
    expect(completed).toMatchObject({ status: 'completed', eventSequence: 3, failureReason: null });
    expect(completed.processedAt).not.toBeNull();
  });

  test('and that was rejected meanwhile has been processing before it fails', async () => {
    const id = await aCalledPayout(ANSWER_LOST);
    await act(id, 'reject', { code: 'AB09', message: 'the other side is away' });
    await check(id);
    await mesh.ledger.answerAll();
    expect(await mesh.find(id)).toMatchObject({
      status: 'failed',
      failureReason: 'AB09: the other side is away',
    });
    expect(await mesh.eventsOf(id)).toEqual([
      'payment.pix.processing',
      'hold.release',
      'payment.pix.failed',
    ]);
  });
});

describe('an order that the acquirer does not know', () => {
  test('is sent again only when no call can be under way any more', async () => {
    const id = await aCalledPayout(CALL_LOST);
    await check(id, { callMs: 60_000 });
    expect(await mesh.find(id)).toMatchObject({ sendAt: null, ending: null });
    await check(id, { callMs: 0 });
    expect((await mesh.find(id)).sendAt).not.toBeNull();
  });

  test('does not fail by age, be it a year', async () => {
    const id = await aCalledPayout(CALL_LOST);
    await mesh.db.query(sql`
      update payouts
      set created_at = now() - interval '1 year', first_put_at = now() - interval '1 year',
        last_put_at = now() - interval '1 year', unanswered_puts = 1000
      where id = ${id}`);
    await check(id);
    expect(await mesh.find(id)).toMatchObject({ status: 'processing', ending: null });
    expect(await mesh.eventsOf(id)).toEqual([]);
  });

  test('but has accepted is neither sent again nor failed: an operator is told', async () => {
    const id = await aCalledPayout(CALL_LOST);
    await mesh.db.query(sql`
      update payouts
      set processed_at = now() - interval '1 hour', last_put_at = now() - interval '1 hour'
      where id = ${id}`);
    await check(id);
    expect(await mesh.find(id)).toMatchObject({ sendAt: null, ending: null });
    expect(mesh.logLines.join('')).toContain(
      'payout accepted by the acquirer is unknown there now',
    );
  });
});

test('a check without an answer is repeated, for a payout that has ended too: somebody asked for it', async () => {
  const id = await aCompletedPayout();
  expect((await checkOf(id))?.check_at).toBeNull();
  await mesh.faults({ operation: 'getPayout', fault: 'error_before', status: 500, count: 1 });
  await check(id);
  expect((await checkOf(id))?.check_at).toBeInstanceOf(Date);
  await check(id);
  expect(await checkOf(id)).toEqual({ check_at: null, lease_token: null });
});

test('checks of an accepted order come at growing distances until it ends', async () => {
  const id = await aCalledPayout();
  const checks: number[] = [];
  for (let times = 0; times < 3; times += 1) {
    await check(id);
    checks.push((await mesh.find(id)).checks);
  }
  expect(checks).toEqual([1, 2, 3]);
  expect((await checkOf(id))?.check_at).toBeInstanceOf(Date);
});

describe('contradictions', () => {
  test('a completed payout that the acquirer calls not done stays completed; the money goes to suspense, once', async () => {
    const id = await aCompletedPayout();
    await act(id, 'contradict', { status: 'NAO_REALIZADO' });
    await Promise.all(Array.from({ length: 10 }, () => check(id)));
    await check(id);
    expect(await mesh.find(id)).toMatchObject({
      status: 'completed',
      contradiction: 'failed_after_completed',
    });
    expect((await mesh.eventsOf(id)).filter((type) => type === 'payout.suspend')).toHaveLength(1);
    const [command] = await suspensionsOf(id);
    expect(command).toMatchObject({
      direction: 'in',
      amount: 1_500,
      reason: 'failed_after_completed',
    });
  });

  test('a failed payout that the acquirer has carried out stays failed; the money goes to suspense, once', async () => {
    const id = await aFailedPayout();
    await act(id, 'contradict', { status: 'REALIZADO' });
    await check(id);
    await check(id);
    expect(await mesh.find(id)).toMatchObject({
      status: 'failed',
      contradiction: 'completed_after_failed',
    });
    const commands = await suspensionsOf(id);
    expect(commands).toMatchObject([{ direction: 'out', reason: 'completed_after_failed' }]);
    expect(mesh.logLines.join('')).toContain('"contradiction":"completed_after_failed"');
  });

  test('an end that is ordered and not confirmed yet is contradicted all the same, and still comes', async () => {
    const id = await aCalledPayout();
    await act(id, 'reject');
    await check(id);
    await act(id, 'contradict', { status: 'REALIZADO' });
    await check(id);
    expect(await suspensionsOf(id)).toHaveLength(1);
    await mesh.ledger.answerAll();
    expect(await mesh.find(id)).toMatchObject({
      status: 'failed',
      contradiction: 'completed_after_failed',
    });
  });
});

async function suspensionsOf(id: PayoutId): Promise<object[]> {
  const rows = await mesh.db.query<{ message: { data: object } }>(sql`
    select message from events
    where type = 'payout.suspend' and message->'data'->>'payout_id' = ${id}`);
  return rows.map((row) => row.message.data);
}

describe('returns of a completed payout', () => {
  async function returnsOf(id: PayoutId) {
    return await mesh.db.query<{ return_id: string; amount: bigint }>(sql`
      select return_id, amount from payout_returns where payout_id = ${id} order by amount`);
  }

  async function returnMoney(id: PayoutId, amount: number): Promise<void> {
    const { endToEndId } = await mesh.find(id);
    await mesh.simulator.control('POST', `/control/pix/${endToEndId}/returns`, { amount });
  }

  test('are credited once each, however often they are seen, and the payout stays completed', async () => {
    const id = await aCompletedPayout();
    await returnMoney(id, 400);
    await check(id);
    await returnMoney(id, 600);
    await Promise.all(Array.from({ length: 5 }, () => check(id)));
    await check(id);
    const returns = await returnsOf(id);
    expect(returns.map((item) => item.amount)).toEqual([400n, 600n]);
    const commands = (await mesh.eventsOf(id)).filter((type) => type === 'payout_return.credit');
    expect(commands).toHaveLength(2);
    expect(await mesh.find(id)).toMatchObject({ status: 'completed', contradiction: null });
  });

  test('that are seen together with the settlement are credited after it', async () => {
    const id = await aCalledPayout();
    await act(id, 'settle');
    const [sent] = await mesh.journalOf(id);
    await mesh.simulator.control('POST', `/control/pix/${sent?.end_to_end_id}/returns`, {});
    await check(id);
    expect(await returnsOf(id)).toEqual([]);
    // Nobody has to ask again: the settlement made the next check due at once.
    const leased = await leaseDuePayouts(mesh.db, 'routine', { limit: 10, leaseMs: 5_000 });
    for (const payout of leased) await checkPayoutStatus(mesh.deps, payout);
    expect(await returnsOf(id)).toMatchObject([{ amount: 1_500n }]);
    expect(await mesh.eventsOf(id)).toEqual([
      'payment.pix.processing',
      'hold.settle',
      'payout_return.credit',
    ]);
    expect((await checkOf(id))?.check_at).toBeNull();
  });
});

describe('an intent that its call left behind', () => {
  test.each([
    ['finished', false],
    ['dropped', false],
    ['moved', true],
    ['unknown', true],
  ] as const)('is settled with the ledger; %s: checked again %s', async (kind, isCheckedAgain) => {
    const [id] = await storeDuePayouts(mesh.db, 1);
    await mesh.db.query(sql`update payouts set status = 'intent', send_at = null where id = ${id}`);
    const settled: string[] = [];
    const settleIntent = async (intent: { id: string }) => {
      settled.push(intent.id);
      return await Promise.resolve({ kind });
    };
    await check(id as PayoutId, { settleIntent });
    expect(settled).toEqual([id]);
    const row = await checkOf(id as PayoutId);
    expect(row?.lease_token === null).toBe(isCheckedAgain);
  });
});

describe('races', () => {
  test(
    `settle and release of one payout, raced ${RACES} times: one end, one command`,
    async () => {
      const ids = await storeDuePayouts(mesh.db, RACES);
      const sent = anAcquirerPayout({ status: 'settled' });
      for (const id of ids) {
        const payout = await mesh.find(id);
        const won = await Promise.all([
          orderEnd(mesh.deps, payout, { kind: 'settle', sent }),
          orderEnd(mesh.deps, payout, { kind: 'release', reason: 'AC03: no', sent: null }),
          orderEnd(mesh.deps, payout, { kind: 'settle', sent }),
        ]);
        expect(won.filter(Boolean)).toHaveLength(1);
      }
      await mesh.ledger.answerAll();
      await mesh.ledger.answerAll();
      const ends = await mesh.db.query<{ payouts: number }>(sql`
        with commands as (
          select (message->'data'->>'resource_id')::uuid as id, array_agg(type) as types
          from events
          where type in ('hold.settle', 'hold.release')
          group by 1
        )
        select count(*)::int as payouts
        from payouts
        join commands using (id)
        where id = any(${ids}::uuid[])
          and types = array[case status when 'completed' then 'hold.settle' when 'failed' then 'hold.release' end]`);
      expect(ends).toEqual([{ payouts: RACES }]);
    },
    scaled(30_000, 600_000),
  );

  test('a check that was overtaken is asked for again, so that nothing it read is lost', async () => {
    const id = await aCalledPayout(ANSWER_LOST);
    await requestCheck(mesh.db, id, null);
    const [stale] = await leaseDuePayouts(mesh.db, 'requested', { limit: 1, leaseMs: 5_000 });
    if (!stale) throw new Error('nothing was leased');
    await checkPayoutStatus(mesh.deps, stale);
    await act(id, 'settle');
    await checkPayoutStatus(mesh.deps, stale);
    expect(await mesh.eventsOf(id)).toEqual(['payment.pix.processing']);
    const leased = await leaseDuePayouts(mesh.db, 'requested', { limit: 1, leaseMs: 5_000 });
    for (const payout of leased) await checkPayoutStatus(mesh.deps, payout);
    expect(await mesh.find(id)).toMatchObject({ ending: 'settle' });
  });

  test('a request that comes during a check is not swallowed by its end', async () => {
    const id = await aCalledPayout();
    await requestCheck(mesh.db, id, null);
    const [leased] = await leaseDuePayouts(mesh.db, 'requested', { limit: 1, leaseMs: 5_000 });
    if (!leased) throw new Error('nothing was leased');
    await requestCheck(mesh.db, id, null);
    expect(await leaseDuePayouts(mesh.db, 'requested', { limit: 1, leaseMs: 5_000 })).toEqual([]);
    await releasePayout(mesh.db, leased, { answer: 'found', nextInMs: 60_000 });
    const again = await leaseDuePayouts(mesh.db, 'requested', { limit: 1, leaseMs: 5_000 });
    expect(again.map((payout) => payout.id)).toEqual([id]);
  });
});

test('the job checks by itself: a settlement that nobody announces is found', async () => {
  const id = await aCalledPayout(ANSWER_LOST);
  await act(id, 'settle');
  await using workers = await mesh.startWorkers();
  await eventually(async () => {
    await mesh.ledger.answerAll();
    expect((await mesh.find(id)).status).toBe('completed');
  }, 30_000);
  expect(workers.statusCheck.isAlive()).toBe(true);
});
