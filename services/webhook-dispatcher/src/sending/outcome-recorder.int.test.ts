import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { listDeliveries } from '#deliveries/list-deliveries.sql.ts';
import { aChargeEvent } from '#testing/a-charge-event.ts';
import { startReceiver } from '#testing/start-receiver.ts';
import { startTestSender, take, turnableClock } from '#testing/test-sender.ts';

import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries.sql.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import type { AttemptOutcome } from './record-outcomes.sql.ts';
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
    await eventually(() => expect(receiver.requests).toHaveLength(1));
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
    expect(receiver.requests).toHaveLength(1);
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
