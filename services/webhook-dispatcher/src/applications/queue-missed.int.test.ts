import { newId, type EndpointId } from '@pixmesh/kernel/ids';
import { AppError } from '@pixmesh/kernel/app-error';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { eventually } from '@pixmesh/testkit/eventually';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type AttemptOutcome, recordOutcomes } from '#attempts/record-outcomes.sql.ts';
import { claimLanes } from '#lanes/claim-lanes.sql.ts';
import { queueResends } from '#lanes/queue-resends.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { fetchDue } from '#sending/fetch-due.sql.ts';
import { anOutcome } from '#test/an-outcome.ts';
import { claimOptions } from '#test/claim-options.ts';
import { HOOK_URL as SHOP } from '#test/a-resource-envelope.ts';
import { anApplication, applyChange, type TestApplication } from '#test/an-application.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { idAt, readLane } from '#test/queued-deliveries.ts';
import { startReceiver } from '#test/start-receiver.ts';
import {
  endpointDeps,
  patchEndpoint,
  removeStoredEndpoint,
  storeEndpoint,
} from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { startSenderTo } from '#test/test-sender.ts';
import { untilDelivery } from '#test/listed-deliveries.ts';

import { applyApplicationChange } from './apply-application-change.ts';
import { MISSED_PAGE } from './queue-missed.ts';
import { firstMissedId, queueMissedStatement } from './queue-missed.sql.ts';

const SECOND_MS = 1_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

/** So many seconds from a moment half an hour ago. */
function at(seconds: number): string {
  return new Date(START_MS + seconds * SECOND_MS).toISOString();
}
const START_MS = Date.now() - 30 * 60 * SECOND_MS;

/** An event of that moment, consumed now; answers where it stands. */
async function consume(
  application: TestApplication,
  seconds: number,
  changes: Parameters<TestApplication['anEvent']>[0] = {},
): Promise<() => Promise<string[]>> {
  const occurred_at = at(seconds);
  const event_id = idAt(Date.parse(occurred_at));
  const event = application.anEvent({ occurred_at, event_id, ...changes });
  await take(database.db, event);
  return async () => {
    const rows = await database.db.query<{ text: string }>(sql`
      select concat_ws(' ', status, case when queue.id is null then 'asleep' else 'queued' end) as text
      from deliveries
      left join queue on queue.id = deliveries.id
      where deliveries.event_id = ${event_id} and deliveries.endpoint_id is not null`);
    return rows.map(({ text }) => text);
  };
}

describe('events that are consumed before the reactivation of their application', () => {
  test('are sent after all, those from before it are not', async () => {
    const application = anApplication();
    const endpoint = await storeEndpoint(database.db, application.owner);
    await applyChange(database.db, application.change(false, at(0)));
    const before = await consume(application, 59);
    const close = await consume(application, 60);
    const behind = await consume(application, 61);
    for (const state of [before, close, behind]) expect(await state()).toEqual(['skipped asleep']);
    expect(await readLane(database.db, endpoint.id)).toMatchObject({ wakes: 'never' });
    const hinted = await applyChange(database.db, application.change(true, at(60)));
    expect(await before()).toEqual(['skipped asleep']);
    expect(await close()).toEqual(['pending queued']);
    expect(await behind()).toEqual(['pending queued']);
    expect(await readLane(database.db, endpoint.id)).toMatchObject({ waiting: 2, wakes: 'now' });
    expect(new Set(hinted)).toEqual(new Set([endpoint.id]));
  });

  test('reach the receiver', async () => {
    await using receiver = await startReceiver();
    const application = anApplication();
    await storeEndpoint(database.db, application.owner);
    await applyChange(database.db, application.change(false, at(0)));
    const event = application.anEvent({ occurred_at: at(61), event_id: idAt(Date.parse(at(61))) });
    await take(database.db, event);
    await using sender = startSenderTo(database.db, { shop: receiver });
    await applyChange(database.db, application.change(true, at(60)));
    sender.wake();
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
  });

  test('stay skipped for an endpoint that was paused by itself then, and wait for one paused since', async () => {
    const application = anApplication();
    const { owner } = application;
    const pausedAt = new Date(at(30));
    await storeEndpoint(database.db, { ...owner, active: false, pausedAt });
    await applyChange(database.db, application.change(false, at(0)));
    const missed = await consume(application, 61);
    await applyChange(database.db, application.change(true, at(60)));
    expect(await missed()).toEqual(['skipped asleep']);

    const other = anApplication();
    const later = await storeEndpoint(database.db, other.owner);
    await applyChange(database.db, other.change(false, at(0)));
    const waits = await consume(other, 61);
    await patchEndpoint(database.db, later, { active: false });
    await applyChange(database.db, other.change(true, at(60)));
    expect(await waits()).toEqual(['pending queued']);
  });

  test('stay skipped for a deleted endpoint', async () => {
    const application = anApplication();
    const endpoint = await storeEndpoint(database.db, application.owner);
    await applyChange(database.db, application.change(false, at(0)));
    const missed = await consume(application, 61);
    await removeStoredEndpoint(database.db, endpoint);
    await applyChange(database.db, application.change(true, at(60)));
    expect(await missed()).toEqual(['skipped asleep']);
  });

  test('stay skipped where the URL of the resource received them under the same text', async () => {
    const application = anApplication();
    await storeEndpoint(database.db, { ...application.owner, url: SHOP });
    await applyChange(database.db, application.change(false, at(0)));
    const received = await consume(application, 61, { url: SHOP });
    const elsewhere = await consume(application, 61, { url: `${SHOP}/other` });
    await applyChange(database.db, application.change(true, at(60)));
    expect(await received()).toEqual(['skipped asleep']);
    expect(await elsewhere()).toEqual(['pending queued']);
  });

  test('are not searched again when everything is repeated', async () => {
    const application = anApplication();
    const endpoint = await storeEndpoint(database.db, application.owner);
    const changes = [application.change(false, at(0)), application.change(true, at(60))];
    for (const change of changes) await applyChange(database.db, change);
    const pausedAt = new Date(at(70));
    await database.db.query(
      sql`update endpoints set active = false, paused_at = ${pausedAt} where id = ${endpoint.id}`,
    );
    const missed = await consume(application, 75);
    await patchEndpoint(database.db, endpoint, { active: true });
    for (const change of changes) await applyChange(database.db, change);
    expect(await missed()).toEqual(['skipped asleep']);
  });

  test('are all queued, more than a page of them, also after a death in between', async () => {
    const application = anApplication();
    const endpoint = await storeEndpoint(database.db, application.owner);
    await applyChange(database.db, application.change(false, at(0)));
    const count = 2 * MISSED_PAGE + 1;
    await skipMany(endpoint.id, count);
    const change = application.change(true, at(60));
    const deps = endpointDeps(database.db);
    const dying = applyApplicationChange({ ...deps, db: failing(database.db, 2) }, change);
    await expect(dying).rejects.toThrow('died');
    expect(await readLane(database.db, endpoint.id)).toMatchObject({ waiting: MISSED_PAGE });
    await applyChange(database.db, change);
    expect(await readLane(database.db, endpoint.id)).toMatchObject({ waiting: count });
  });

  /** Fails when that many pages have been asked for, before the last of them. */
  function failing(db: Database, pages: number): Database {
    let asked = 0;
    return aroundMissedPage(db, async (page) => {
      if ((asked += 1) === pages) throw new AppError('INTERNAL_ERROR', { message: 'died' });
      return await page();
    });
  }
});

test('a reactivation while events come in loses none of them', async () => {
  const application = anApplication();
  const endpoint = await storeEndpoint(database.db, application.owner);
  await applyChange(database.db, application.change(false, at(0)));
  const events = Array.from({ length: 20 }, () =>
    application.anEvent({ occurred_at: at(61), event_id: idAt(Date.parse(at(61))) }),
  );
  const [first, ...others] = events.map((event) => () => take(database.db, event));
  await first!();
  await Promise.all([
    ...others.map((other) => other()),
    applyChange(database.db, application.change(true, at(60))),
  ]);
  expect(await readLane(database.db, endpoint.id)).toEqual({
    waiting: events.length,
    leased: false,
    wakes: 'now',
  });
});

test('what a re-send delivers while it is queued is not sent once more', async () => {
  const application = anApplication();
  const endpoint = await storeEndpoint(database.db, application.owner);
  await applyChange(database.db, application.change(false, at(0)));
  const missed = await consume(application, 61);
  const outcome = await resendOnlyMissed(endpoint.id);
  const recording = Promise.withResolvers<unknown>();
  const db = aroundMissedPage(database.db, async (page) => {
    const rows = await page();
    recording.resolve(
      recordOutcomes(database.db, databaseClock, { outcomes: [outcome], lanes: [] }),
    );
    // It has begun, and waits for the delivery.
    await eventually(async () => expect(await countLockWaits(database.db)).toBe(1));
    return rows;
  });
  await applyChange(db, application.change(true, at(60)));
  await recording.promise;
  expect(await missed()).toEqual(['succeeded asleep']);
});

/** Queues, claims and fetches it as a sender does; answers its success, which is not recorded yet. */
async function resendOnlyMissed(endpointId: string): Promise<AttemptOutcome> {
  const [delivery] = await database.db.query<{ id: string }>(
    sql`select id from deliveries where endpoint_id = ${endpointId}`,
  );
  await database.db.transaction((tx) =>
    queueResends(tx, databaseClock, { deliveryIds: [delivery!.id], recoveryId: null }),
  );
  const claims = await claimLanes(database.db, claimOptions({ limit: 64, leaseMs: 60_000 }));
  const lane = claims.find(({ id }) => id === endpointId)!;
  const request = { id: lane.id, take: 1, recovered: 0, wantsOther: false, inFlight: [] };
  const { due } = await fetchDue(database.db, databaseClock, [request]);
  return anOutcome(due[0]!, lane);
}

/** Does `around` in place of each query that queues a page of missed events, with that query to call. */
function aroundMissedPage(
  db: Database,
  around: (page: () => Promise<unknown>) => Promise<unknown>,
): Database {
  return {
    ...db,
    transaction: async (work) =>
      await db.transaction(
        async (tx) =>
          await work({
            ...tx,
            query: async (statement) => {
              if (statement.name !== 'deliveries_queue_missed') return await tx.query(statement);
              // The same statement's rows, of its own type.
              return (await around(() => tx.query(statement))) as never;
            },
          }),
      ),
  };
}

describe('a search for missed events', () => {
  test('reads one page of the endpoint alone, whatever others have and however many weeks there are', async () => {
    const endpoint = await storeEndpoint(database.db, {});
    const page = {
      endpointId: endpoint.id,
      since: new Date(at(60)),
      after: firstMissedId(new Date(at(60))),
      limit: 100,
    };
    await expectIndexed(page);
    await skipMany(newId(), 30_000);
    await skipMany(endpoint.id, 500);
    const admin = createPool({ url: database.adminUrl, applicationName: 'plans', max: 1 });
    // Weeks to come are empty and were never counted, as they are in an installation.
    await admin.query(
      sql`analyze webhook_dispatcher.deliveries_first, webhook_dispatcher.events_first`,
    );
    await admin[Symbol.asyncDispose]();
    await expectIndexed(page);
    const { name: _name, ...unnamed } = queueMissedStatement(page);
    const { scans, rowsRead } = await explainStatement(database.db, unnamed);
    expect(scans).not.toContain('Seq Scan');
    // The page; event, endpoint and destination of each; the deliveries to lock, to find and to change.
    expect(rowsRead).toBeLessThanOrEqual(7 * page.limit);
  });

  async function expectIndexed(page: Parameters<typeof queueMissedStatement>[0]): Promise<void> {
    expect((await genericPlan(database.db, queueMissedStatement(page))).scans).toEqual([]);
  }
});

/** Skipped at a moment when the application was active again. */
async function skipMany(endpointId: EndpointId | string, count: number): Promise<void> {
  const occurredAt = at(61);
  const ids = Array.from({ length: count }, () => idAt(Date.parse(occurredAt)));
  await database.db.query(
    named(
      'skip_many',
      sql`
        with made as (
          insert into events (
            event_id, type, account_id, resource_id, source, sequence, occurred_at, body_rest
          )
          select id, 'charge.pix.created', gen_random_uuid(), gen_random_uuid(), 'api', 1, ${occurredAt}, ''
          from unnest(${ids}::uuid[]) as made (id)
          returning event_id, account_id, resource_id, type
        )
        insert into deliveries (
          id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id, status
        )
        select event_id, event_id, ${endpointId}, account_id, resource_id, type, ${endpointId}, ${endpointId}, 'skipped'
        from made`,
    ),
  );
}
