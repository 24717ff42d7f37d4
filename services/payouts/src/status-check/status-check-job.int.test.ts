import type { AcquirerPayout, Lookup } from '@pixmesh/acquirer/acquirer';
import { type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { startPostponingChecks } from './postpone-checks.job.ts';
import { startStatusCheckJob } from './status-check.job.ts';
import { requestCheck } from './payout-checks.sql.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
});

const AT_WORK: Lookup<AcquirerPayout> = { kind: 'found', value: anAcquirerPayout() };

/** The job beside an acquirer in memory that records who was checked, in order. */
function startJob(answer: (idEnvio: string) => Promise<Lookup<AcquirerPayout>>) {
  const checks: string[] = [];
  const logLines: string[] = [];
  const rarely = { firstMs: 60_000, maxMs: 60_000 };
  const signal = createWakeSignal();
  const postponing = createWakeSignal();
  const logger = createLogger('payouts', 'warn', { write: (line) => void logLines.push(line) });
  const postponed = startPostponingChecks({ db: database.db, logger, signal: postponing });
  const job = startStatusCheckJob({
    signal,
    db: database.db,
    moves: createPayoutMoves(database.db),
    logger,
    acquirer: {
      getPayout: (idEnvio) => {
        checks.push(idEnvio);
        return answer(idEnvio);
      },
    },
    callMs: 500,
    leaseMs: 2_500,
    refusalWaitMs: 60_000,
    intentChecks: rarely,
    unknownChecks: rarely,
    acceptedChecks: rarely,
    wakeOutbox: () => undefined,
    wakeSender: () => undefined,
    wakeStatusChecks: signal.notify,
    wakePostponing: postponing.notify,
    settleIntent: () => Promise.resolve({ kind: 'unknown' }),
  });
  const stop = async () => {
    await job[Symbol.asyncDispose]();
    await postponed[Symbol.asyncDispose]();
  };
  return { job: { ...job, [Symbol.asyncDispose]: stop }, signal, checks, logLines };
}

/** Payouts that were called once and are due for a routine check. */
async function sentPayouts(count: number): Promise<PayoutId[]> {
  const ids = await storeDuePayouts(database.db, count);
  await database.db.query(sql`
    update payouts
    set send_at = null, unanswered_puts = 1, last_put_at = now(), check_at = now() - interval '1 second'
    where id = any(${ids}::uuid[])`);
  return ids;
}

test('every payout that is due is checked once, then at its next time', async () => {
  const ids = await sentPayouts(100);
  const { job, checks } = startJob(() => Promise.resolve(AT_WORK));
  await eventually(() => expect(checks).toHaveLength(100));
  await job[Symbol.asyncDispose]();
  expect(new Set(checks)).toEqual(new Set(ids.map(toAcquirerId)));
  const [accepted] = await database.db.query(sql`
    select count(*)::int as count from payouts where processed_at is not null and check_at > now()`);
  expect(accepted).toEqual({ count: 100 });
});

test('two replicas share the work: nobody is checked twice', async () => {
  await sentPayouts(200);
  const first = startJob(() => Promise.resolve(AT_WORK));
  const second = startJob(() => Promise.resolve(AT_WORK));
  await eventually(() => expect(first.checks.length + second.checks.length).toBe(200));
  await Promise.all([first.job[Symbol.asyncDispose](), second.job[Symbol.asyncDispose]()]);
  expect(new Set([...first.checks, ...second.checks]).size).toBe(200);
});

test('thousands of due checks do not delay one that was asked for', async () => {
  await sentPayouts(3_000);
  const { job, signal, checks } = startJob(() => Promise.resolve(AT_WORK));
  await eventually(() => expect(checks.length).toBeGreaterThan(50));
  const [asked] = (await sentPayouts(1)) as [PayoutId];
  await requestCheck(database.db, asked, null);
  const before = checks.length;
  signal.notify();
  await eventually(() => expect(checks).toContain(toAcquirerId(asked)));
  // At most what was under way, and one routine turn.
  expect(checks.indexOf(toAcquirerId(asked)) - before).toBeLessThan(200);
  await job[Symbol.asyncDispose]();
});

test('checks at an acquirer that hangs are bounded, and go on when it answers', async () => {
  await sentPayouts(100);
  const gate = Promise.withResolvers<void>();
  const { job, checks } = startJob(async () => {
    await gate.promise;
    return AT_WORK;
  });
  await eventually(() => expect(checks.length).toBeGreaterThanOrEqual(32));
  expect(checks).toHaveLength(32);
  expect(job.isAlive()).toBe(true);
  gate.resolve();
  await eventually(() => expect(checks).toHaveLength(100));
  await job[Symbol.asyncDispose]();
});

test('checks of one account that hang leave places for another account', async () => {
  const slow = new Set((await sentPayouts(100)).map(toAcquirerId));
  const gate = Promise.withResolvers<void>();
  const { job, signal, checks } = startJob(async (idEnvio) => {
    if (slow.has(idEnvio)) await gate.promise;
    return AT_WORK;
  });
  await eventually(() => expect(checks).toHaveLength(32));
  const [other] = (await sentPayouts(1)) as [PayoutId];
  await requestCheck(database.db, other, null);
  signal.notify();
  await eventually(() => expect(checks).toContain(toAcquirerId(other)));
  expect(checks).toHaveLength(33);
  gate.resolve();
  await job[Symbol.asyncDispose]();
});

test('a check that fails is logged by the payout’s id alone and repeated when its lease ends', async () => {
  const [id] = (await sentPayouts(1)) as [PayoutId];
  let isBroken = true;
  const { job, checks, logLines } = startJob(() =>
    isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(AT_WORK),
  );
  await eventually(() => expect(logLines).toHaveLength(1));
  expect(JSON.parse(logLines[0] ?? '')).toMatchObject({ payout_id: id });
  expect(logLines[0]).not.toContain('ana@example.com');
  isBroken = false;
  await database.db.query(
    sql`update payouts set lease_until = now() - interval '1 second', check_at = now() - interval '1 second' - interval '1 second'`,
  );
  await eventually(() => expect(checks).toHaveLength(2));
  await job[Symbol.asyncDispose]();
});
