import type { AcquirerPayout, Lookup } from '@pixmesh/acquirer/client';
import { type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { startReadBackJob } from './read-back.job.ts';
import { requestCheck } from './read-back.sql.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
});

const AT_WORK: Lookup<AcquirerPayout> = { kind: 'found', value: anAcquirerPayout() };

/** The job beside an acquirer in memory that remembers who was looked at, in order. */
function startJob(answer: (idEnvio: string) => Promise<Lookup<AcquirerPayout>>) {
  const looks: string[] = [];
  const logLines: string[] = [];
  const quiet = { firstMs: 60_000, maxMs: 60_000 };
  const signal = createWakeSignal();
  const job = startReadBackJob(
    {
      signal,
      db: database.db,
      logger: createLogger('payouts', 'warn', { write: (line) => void logLines.push(line) }),
      acquirer: {
        getPayout: (idEnvio) => {
          looks.push(idEnvio);
          return answer(idEnvio);
        },
      },
      acquirerTimeoutMs: 500,
      refusalWaitMs: 60_000,
      intentChecks: quiet,
      unknownChecks: quiet,
      acceptedChecks: quiet,
      wakeOutbox: () => undefined,
      wakeSender: () => undefined,
      settleIntent: () => Promise.resolve({ kind: 'unknown' }),
    },
    500,
  );
  return { job, signal, looks, logLines };
}

/** Payouts that were called once and are due for a routine look. */
async function sentPayouts(count: number): Promise<PayoutId[]> {
  const ids = await storeDuePayouts(database.db, count);
  await database.db.query(sql`
    update payouts
    set send_at = null, unanswered_puts = 1, last_put_at = now(), check_at = now()
    where id = any(${ids}::uuid[])`);
  return ids;
}

test('every payout that is due is looked at once, then at its next time', async () => {
  const ids = await sentPayouts(100);
  const { job, looks } = startJob(() => Promise.resolve(AT_WORK));
  await eventually(() => expect(looks).toHaveLength(100));
  await job[Symbol.asyncDispose]();
  expect(new Set(looks)).toEqual(new Set(ids.map(toAcquirerId)));
  const [accepted] = await database.db.query(sql`
    select count(*)::int as count from payouts where processed_at is not null and check_at > now()`);
  expect(accepted).toEqual({ count: 100 });
});

test('two replicas share the work: nobody is looked at twice', async () => {
  await sentPayouts(200);
  const first = startJob(() => Promise.resolve(AT_WORK));
  const second = startJob(() => Promise.resolve(AT_WORK));
  await eventually(() => expect(first.looks.length + second.looks.length).toBe(200));
  await Promise.all([first.job[Symbol.asyncDispose](), second.job[Symbol.asyncDispose]()]);
  expect(new Set([...first.looks, ...second.looks]).size).toBe(200);
});

test('thousands of due looks do not delay one that was asked for', async () => {
  await sentPayouts(3_000);
  const { job, signal, looks } = startJob(() => Promise.resolve(AT_WORK));
  await eventually(() => expect(looks.length).toBeGreaterThan(50));
  const [asked] = (await sentPayouts(1)) as [PayoutId];
  await requestCheck(database.db, { id: asked, endToEndId: null }, null);
  const before = looks.length;
  signal.notify();
  await eventually(() => expect(looks).toContain(toAcquirerId(asked)));
  // At most what was under way, and one routine turn.
  expect(looks.indexOf(toAcquirerId(asked)) - before).toBeLessThan(200);
  await job[Symbol.asyncDispose]();
});

test('looks at an acquirer that hangs are bounded, and go on when it answers', async () => {
  await sentPayouts(100);
  const gate = Promise.withResolvers<void>();
  const { job, looks } = startJob(async () => {
    await gate.promise;
    return AT_WORK;
  });
  await eventually(() => expect(looks.length).toBeGreaterThanOrEqual(32));
  expect(looks).toHaveLength(32);
  expect(job.isAlive()).toBe(true);
  gate.resolve();
  await eventually(() => expect(looks).toHaveLength(100));
  await job[Symbol.asyncDispose]();
});

test('a look that fails is logged by the payout’s id alone and repeated when its lease ends', async () => {
  const [id] = (await sentPayouts(1)) as [PayoutId];
  let isBroken = true;
  const { job, looks, logLines } = startJob(() =>
    isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(AT_WORK),
  );
  await eventually(() => expect(logLines).toHaveLength(1));
  expect(JSON.parse(logLines[0] ?? '')).toMatchObject({ payout_id: id });
  expect(logLines[0]).not.toContain('ana@example.com');
  isBroken = false;
  await database.db.query(sql`update payouts set lease_until = now(), check_at = now()`);
  await eventually(() => expect(looks).toHaveLength(2));
  await job[Symbol.asyncDispose]();
});
