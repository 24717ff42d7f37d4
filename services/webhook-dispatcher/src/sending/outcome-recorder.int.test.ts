import { AppError } from '@pixmesh/kernel/app-error';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { listDeliveries } from '#deliveries/list-deliveries.sql.ts';
import { aChargeEvent } from '#testing/a-charge-event.ts';
import { genericPlan } from '#testing/generic-plan.ts';
import { startReceiver } from '#testing/start-receiver.ts';
import { startTestSender, take, turnableClock } from '#testing/test-sender.ts';

import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries.sql.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import { type AttemptOutcome, attemptsStatement, insertAttempts } from './record-outcomes.sql.ts';
import { databaseClock } from './schedule-clock.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterAll(() => database[Symbol.asyncDispose]());

describe('an outcome', () => {
  test('of a claim that was taken over changes nothing', async () => {
    const event = aChargeEvent();
    await take(database.db, event);
    const old = await claimOne({ leaseMs: 1 });
    const current = await eventually(() => claimOne({ leaseMs: 60_000 }));
    const recorder = createRecorder(database.db);
    await recorder.record(anOutcome(old));
    expect(await deliveryOf(event.data.id)).toMatchObject({ status: 'pending', attempts: [] });
    await recorder.record(anOutcome(current));
    expect(await deliveryOf(event.data.id)).toMatchObject({
      status: 'succeeded',
      attempts: [{ number: 1 }],
    });
  });

  test('said again after a lost answer is one attempt', async () => {
    const event = aChargeEvent();
    await take(database.db, event);
    const claim = await claimOne({ leaseMs: 60_000 });
    const recorder = createRecorder(database.db);
    await recorder.record(anOutcome(claim));
    await recorder.record(anOutcome(claim));
    expect((await deliveryOf(event.data.id)).attempts).toHaveLength(1);
  });

  test('that the database refuses does not hold up the others of its batch', async () => {
    const events = [aChargeEvent(), aChargeEvent(), aChargeEvent()];
    for (const event of events) await take(database.db, event);
    const { claimed: claims } = await claimDeliveries(database.db, claimOptions(60_000));
    const recorder = createRecorder(database.db);
    await Promise.all(
      claims.map((claim, index) =>
        recorder.record({ ...anOutcome(claim), responseExcerpt: index === 1 ? 'a\u0000b' : 'ok' }),
      ),
    );
    const excerpts = await Promise.all(
      events.map(async (event) => (await deliveryOf(event.data.id)).attempts[0]?.responseExcerpt),
    );
    expect(excerpts.toSorted()).toEqual(['ok', 'ok', null].toSorted());
  });
});

describe('an outcome that waits for its delivery', () => {
  test.each([
    {
      meanwhile: 'canceled',
      change: sql`status = 'canceled', next_attempt_at = null`,
      attempts: 1,
    },
    { meanwhile: 'claimed by another sender', change: sql`fence = fence + 1`, attempts: 0 },
  ])('which is $meanwhile makes $attempts attempt(s)', async ({ change, attempts }) => {
    const event = aChargeEvent();
    await take(database.db, event);
    const claim = await claimOne({ leaseMs: 60_000 });
    const { stored } = await database.db.transaction(async (tx) => {
      await tx.query(sql`update deliveries set ${change} where id = ${claim.id}`);
      const waiting = insertAttempts(database.db, databaseClock, [anOutcome(claim)]);
      await eventually(async () => expect(await lockWaits()).toBe(1));
      return { stored: waiting };
    });
    expect((await stored).size).toBe(attempts);
    const delivery = await deliveryOf(event.data.id);
    expect(delivery.attempts).toHaveLength(attempts);
    expect(delivery.status).toBe(attempts === 1 ? 'canceled' : 'pending');
  });

  async function lockWaits(): Promise<number> {
    const rows = await database.db.query(sql`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%attempts_insert%'`);
    return rows.length;
  }
});

test('outcomes that two processes store at once, each in its own order, never deadlock', async () => {
  for (let count = 0; count < 40; count += 1) await take(database.db, aChargeEvent());
  const { claimed } = await claimDeliveries(database.db, {
    ...claimOptions(60_000),
    limit: 40,
    perLaneMax: 40,
  });
  const ids = claimed.map(({ id }) => id);
  const outcomes = claimed.map(anOutcome);
  for (let round = 0; round < 20; round += 1) {
    await database.db.query(
      sql`update deliveries set status = 'pending', leased = true where id = any (${ids}::uuid[])`,
    );
    const batches = [outcomes, outcomes.toReversed()];
    const stored = await Promise.all(
      batches.map((batch) => insertAttempts(database.db, databaseClock, batch)),
    );
    expect(stored.map(({ size }) => size)).toEqual([outcomes.length, outcomes.length]);
  }
});

test('outcomes find their deliveries by key, however many there are, also by an early plan', async () => {
  await using other = await createTestDatabase('webhook_dispatcher');
  const plan = () => genericPlan(other.db, attemptsStatement(databaseClock, []));
  const early = await plan();
  await other.db.query(sql`
    insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id)
    select
      gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
      'charge.pix.paid', gen_random_uuid()
    from generate_series(1, 5000)`);
  await using superuser = createPool({ url: other.adminUrl, applicationName: 'test' });
  await superuser.query(sql`analyze webhook_dispatcher.deliveries`);
  for (const { scans, text } of [early, await plan()]) {
    expect(scans).toEqual([]);
    expect(text).toContain('LockRows');
  }
});

describe('a database that is away while a request is out', () => {
  test('costs neither the attempt nor a second request, even past the lease', async () => {
    await using receiver = await startReceiver();
    const flaky = interruptible(database.db);
    await using sender = startTestSender({
      db: flaky.db,
      receivers: { shop: receiver.port },
      clock: turnableClock(),
    });
    const event = aChargeEvent();
    await take(database.db, event);
    flaky.failAfterNextClaim();
    sender.kick();
    // What other tests left behind may come due as well.
    const { id } = await deliveryOf(event.data.id);
    const requests = () =>
      receiver.requests.filter(({ headers }) => headers['x-webhook-delivery'] === id);
    await eventually(() => expect(requests()).toHaveLength(1));
    await eventually(() => expect(flaky.refused()).toBeGreaterThanOrEqual(2));
    // The lease ends while the outcome waits: the delivery looks due to everybody.
    await database.db.query(sql`update deliveries set due_at = now() where leased`);
    flaky.restore();
    const delivery = await eventually(async () => {
      const found = await deliveryOf(event.data.id);
      expect(found.status).toBe('succeeded');
      return found;
    });
    expect(delivery.attempts).toHaveLength(1);
    expect(requests()).toHaveLength(1);
  });
});

/** The real database behind a switch that makes it look away. */
function interruptible(real: Database) {
  let state: 'open' | 'armed' | 'away' = 'open';
  let refused = 0;
  const db: Database = {
    ...real,
    query: async (statement) => {
      if (state === 'away') {
        refused += 1;
        throw new AppError('DEPENDENCY_UNAVAILABLE');
      }
      const rows = await real.query(statement);
      if (state === 'armed' && statement.name === 'deliveries_claim' && rows.length > 0)
        state = 'away';
      return rows as never;
    },
  };
  return {
    db,
    refused: () => refused,
    failAfterNextClaim: () => {
      state = 'armed';
    },
    restore: () => {
      state = 'open';
    },
  };
}

function createRecorder(db: Database) {
  return createOutcomeRecorder({
    db,
    clock: databaseClock,
    logger: createLogger('test', 'silent'),
  });
}

function claimOptions(leaseMs: number) {
  return {
    clock: databaseClock,
    limit: 10,
    leaseMs,
    perLaneMax: 10,
    inFlight: new Map<string, number>(),
  };
}

async function claimOne({ leaseMs }: { leaseMs: number }): Promise<ClaimedDelivery> {
  const claim = await claimDeliveries(database.db, claimOptions(leaseMs));
  const [claimed] = claim.claimed;
  expect(claimed).toBeDefined();
  return claimed!;
}

function anOutcome(claim: ClaimedDelivery): AttemptOutcome {
  return {
    deliveryId: claim.id,
    fence: claim.fence,
    startedAt: claim.claimedAt,
    durationMs: 3,
    outcome: 'succeeded',
    status: 200,
    error: null,
    responseExcerpt: 'ok',
    address: '127.0.0.1',
    nextStatus: 'succeeded',
    retryDelayMs: null,
  };
}

async function deliveryOf(resourceId: string) {
  const page = { resourceId, accountId: null, limit: 10, startingAfter: null };
  return (await listDeliveries(database.db, page))[0]!;
}
