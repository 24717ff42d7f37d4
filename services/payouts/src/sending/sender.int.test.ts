import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { type AccountId, newId, type PayoutId } from '@pixmesh/kernel/ids';
import { createPolledSignal } from '@pixmesh/postgres/due-work-poll';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { createIntentCommits } from '#creation/commit-intents.sql.ts';
import { anIntent } from '#test/an-intent.ts';
import { startSendingUnderTest, type SendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { startSender } from './sender.job.ts';

/** Calls are counted here: a busy machine must leave none without an answer. */
const ACQUIRER_TIMEOUT_MS = 4_000;

let mesh: SendingUnderTest;
beforeAll(async () => {
  mesh = await startSendingUnderTest(ACQUIRER_TIMEOUT_MS);
});
afterEach(async () => {
  await mesh.simulator.control('DELETE', '/control/faults');
  await mesh.db.query(sql`update send_slots set lease_token = null, lease_until = null`);
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

/** The real client, watched: who is called when, and how many at once. */
function watched(acquirer: Acquirer) {
  const order: string[] = [];
  const answered = new Set<string>();
  const seen = { order, atOnce: 0, atOnceMax: 0, afterAnswer: 0 };
  const sendPayout: Acquirer['sendPayout'] = async (input) => {
    order.push(input.idEnvio);
    if (answered.has(input.idEnvio)) seen.afterAnswer += 1;
    seen.atOnce += 1;
    seen.atOnceMax = Math.max(seen.atOnceMax, seen.atOnce);
    try {
      const answer = await acquirer.sendPayout(input);
      if (answer.kind !== 'unknown') answered.add(input.idEnvio);
      return answer;
    } finally {
      seen.atOnce -= 1;
    }
  };
  return { seen, sendPayout };
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

test('two senders on one database never have more calls at once than there are slots', async () => {
  await mesh.faults({ operation: 'sendPayout', fault: 'latency', delay_ms: 60 });
  const acquirer = watched(mesh.acquirer);
  const ids = (await Promise.all([1, 2, 3].map(() => storeDuePayouts(mesh.db, 20)))).flat();
  {
    await using first = await mesh.startWorkers({
      acquirer: { ...mesh.acquirer, ...acquirer },
      slots: 3,
    });
    await using second = await mesh.startWorkers({
      acquirer: { ...mesh.acquirer, ...acquirer },
      slots: 3,
    });
    await untilCompleted(ids);
    expect(first.sender.isAlive() && second.sender.isAlive()).toBe(true);
  }
  expect(acquirer.seen.atOnceMax).toBe(3);
  // A call that a busy machine leaves without an answer in time is repeated; none that was answered is.
  expect(acquirer.seen.afterAnswer).toBe(0);
  expect(new Set(acquirer.seen.order).size).toBe(60);
});

test('an account with thousands of due payouts does not delay another that comes later', async () => {
  await mesh.faults({ operation: 'sendPayout', fault: 'latency', delay_ms: 20 });
  const acquirer = watched(mesh.acquirer);
  const hot = newId<AccountId>();
  await storeDuePayouts(mesh.db, 3_000, { accountId: hot });
  await using workers = await mesh.startWorkers({
    acquirer: { ...mesh.acquirer, ...acquirer },
    slots: 2,
  });
  await eventually(() => expect(acquirer.seen.order.length).toBeGreaterThan(5));
  const late = await storeDuePayouts(mesh.db, 3);
  const sentBefore = acquirer.seen.order.length;
  await untilCompleted(late);
  const places = late.map((id) => acquirer.seen.order.indexOf(id.replaceAll('-', '')));
  // Each of the three waits for at most two claims of the hot account.
  expect(Math.max(...places) - sentBefore).toBeLessThan(20);
  expect(workers.sender.isAlive()).toBe(true);
  await mesh.db.query(sql`update payouts set send_at = null where account_id = ${hot}`);
});

test('the slot of a sender that died comes back by its lease, and the work goes on', async () => {
  const [id] = await storeDuePayouts(mesh.db, 1);
  await mesh.db.query(sql`
    insert into send_slots (slot) values (1) on conflict (slot) do nothing`);
  await mesh.db.query(sql`
    update send_slots
    set lease_token = ${newId()}::uuid, lease_until = now() + interval '800 ms'
    where slot = 1`);
  await using workers = await mesh.startWorkers({ slots: 1 });
  const startedAtMs = performance.now();
  await untilCompleted([id as PayoutId]);
  expect(performance.now() - startedAtMs).toBeGreaterThan(700);
  expect(workers.sender.isAlive()).toBe(true);
});

test('senders that stop finish their calls; those that start later take up what is left', async () => {
  await mesh.faults({ operation: 'sendPayout', fault: 'latency', delay_ms: 100 });
  const acquirer = watched(mesh.acquirer);
  const ids = await storeDuePayouts(mesh.db, 12);
  const first = await mesh.startWorkers({ acquirer: { ...mesh.acquirer, ...acquirer }, slots: 4 });
  await eventually(() => expect(acquirer.seen.order.length).toBeGreaterThanOrEqual(4));
  await first[Symbol.asyncDispose]();
  expect(acquirer.seen.atOnce).toBe(0);
  const sentByFirst = acquirer.seen.order.length;
  expect(sentByFirst).toBeLessThan(12);
  const [unanswered] = await mesh.db.query(sql`
    select count(*)::int as count
    from payouts
    where id = any(${ids}::uuid[]) and send_at is null and processed_at is null`);
  expect(unanswered).toEqual({ count: 0 });
  await using second = await mesh.startWorkers({ acquirer: { ...mesh.acquirer, ...acquirer } });
  await untilCompleted(ids);
  expect(second.sender.isAlive()).toBe(true);
  expect(acquirer.seen.order).toHaveLength(12);
});

test('a call that hangs holds its own slot and nothing else', async () => {
  await mesh.faults({ operation: 'sendPayout', fault: 'hang', delay_ms: 60_000, count: 1 });
  const [stuck] = await storeDuePayouts(mesh.db, 1);
  await using workers = await mesh.startWorkers({ slots: 2 });
  await eventually(async () => {
    expect((await mesh.find(stuck as PayoutId)).unansweredCalls).toBe(1);
  });
  const others = await storeDuePayouts(mesh.db, 10);
  await untilCompleted(others);
  await untilCompleted([stuck as PayoutId]);
  expect(workers.sender.isAlive()).toBe(true);
});

test('while the acquirer is away nothing fails and nothing is lost; all is sent when it is back', async () => {
  await mesh.faults(
    { operation: 'sendPayout', fault: 'error_before', status: 503 },
    { operation: 'getPayout', fault: 'error_before', status: 503 },
  );
  const ids = await storeDuePayouts(mesh.db, 10);
  await mesh.db.query(
    sql`update payouts set created_at = now() - interval '1 year' where id = any(${ids}::uuid[])`,
  );
  await using workers = await mesh.startWorkers();
  await eventually(async () => {
    const [row] = await mesh.db.query<{ checks: number }>(
      sql`select min(checks) as checks from payouts where id = any(${ids}::uuid[])`,
    );
    expect(row?.checks).toBeGreaterThanOrEqual(3);
  });
  const ended = await mesh.db.query(sql`
    select id from payouts
    where id = any(${ids}::uuid[]) and (status <> 'processing' or ending is not null)`);
  expect(ended).toEqual([]);
  await mesh.simulator.control('DELETE', '/control/faults');
  await untilCompleted(ids);
  expect(workers.statusCheck.isAlive()).toBe(true);
});

test('a sender that holds a slot sends what is committed at once, and one that holds none leaves it to a claim', async () => {
  const acquirer = watched(mesh.acquirer);
  await using workers = await mesh.startWorkers({
    acquirer: { ...mesh.acquirer, ...acquirer },
    slots: 1,
  });
  const leases: (number | null)[] = [];
  const commits = createIntentCommits(mesh.db);
  const commit = async () => {
    const intent = await anIntent(mesh.db);
    const made = await workers.sender.sendAtOnce((leaseMs) => {
      leases.push(leaseMs);
      return commits.commit(intent, leaseMs);
    });
    await untilCompleted([intent.id]);
    return made;
  };
  expect((await commit())?.unansweredCalls).toBe(0);
  // Held for a moment only, which is over sooner where the machine is busy.
  await eventually(async () => expect((await commit())?.unansweredCalls).toBe(1));
  expect(leases.at(0)).toBeNull();
  expect(leases.at(-1)).toBe(mesh.deps.acquirerTimeoutMs + 2_000);
  expect(acquirer.seen.order).toHaveLength(leases.length);
});

test('beside another account, one with many due is left out of claims when it has begun a group', async () => {
  const [many, few] = [newId<AccountId>(), newId<AccountId>()];
  const ids = [
    ...(await storeDuePayouts(mesh.db, 40, { accountId: many })),
    ...(await storeDuePayouts(mesh.db, 2, { accountId: few })),
  ];
  const leftOut: unknown[] = [];
  const db: Database = {
    ...mesh.db,
    query: (statement) => {
      if (statement.name === 'payouts_claim_due') {
        leftOut.push(...statement.values.filter(Array.isArray).flat());
      }
      return mesh.db.query(statement);
    },
  };
  await using workers = await mesh.startWorkers({ db, slots: 8 });
  await untilCompleted(ids);
  expect(workers.sender.isAlive()).toBe(true);
  expect([leftOut.includes(many), leftOut.includes(few)]).toEqual([true, false]);
});

test('a payout that found no slot is sent in one that became free while its claim was under way', async () => {
  const signal = createPolledSignal();
  const claims = { slots: [] as unknown, underWay: 0, held: Promise.resolve() };
  const db: Database = {
    ...mesh.db,
    query: async (statement) => {
      if (statement.name !== 'payouts_claim_due') return (await mesh.db.query(statement)) as never;
      claims.underWay += 1;
      const rows = await mesh.db.query(statement);
      await claims.held;
      claims.underWay -= 1;
      claims.slots = statement.values.find((value) => Array.isArray(value));
      return rows as never;
    },
  };
  const calls = { held: Promise.resolve() };
  const acquirer: Acquirer = {
    ...mesh.acquirer,
    sendPayout: async (input) => {
      await calls.held;
      return await mesh.acquirer.sendPayout(input);
    },
  };
  await using sender = startSender({ ...mesh.deps, db, acquirer, slots: 2, signal });
  const due = async () => {
    const [id] = await storeDuePayouts(mesh.db, 1);
    signal.notify();
    return id as PayoutId;
  };
  const sent = async (id: PayoutId) =>
    await eventually(async () => expect((await mesh.find(id)).processedAt).not.toBeNull());

  // One slot is another process's for the whole test, and this process has the other one left.
  await sent(await due());
  await mesh.db.query(sql`
    update send_slots
    set lease_token = ${newId()}::uuid, lease_until = now() + interval '1 hour'
    where slot = 2`);
  await eventually(() => {
    if (claims.underWay === 0 && !signal.isNotified()) signal.notify();
    expect(claims.slots).toEqual([1]);
  });
  await eventually(() => expect([claims.underWay, signal.isNotified()]).toEqual([0, false]));

  const call = Promise.withResolvers<void>();
  calls.held = call.promise;
  const intent = await anIntent(mesh.db);
  const commits = createIntentCommits(mesh.db);
  await sender.sendAtOnce((leaseMs) => commits.commit(intent, leaseMs));
  const claim = Promise.withResolvers<void>();
  claims.held = claim.promise;
  const waiting = await due();
  calls.held = Promise.resolve();
  call.resolve();
  await sent(intent.id);
  claim.resolve();
  await sent(waiting);
});

test('no slot is kept for long, and none after a stop', async () => {
  const ids = await storeDuePayouts(mesh.db, 3);
  const workers = await mesh.startWorkers({ slots: 3 });
  await untilCompleted(ids);
  const taken = sql`select slot from send_slots where lease_until > now()`;
  expect(await mesh.db.query(taken)).not.toEqual([]);
  await workers[Symbol.asyncDispose]();
  expect(await mesh.db.query(taken)).toEqual([]);
});
