import type { Recovery } from '@pixmesh/contracts/internal/operator-deliveries';
import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';
import { databaseClock } from '#schedule-clock.ts';
import { anApplication } from '#test/an-application.ts';
import { storeFinished } from '#test/finished-deliveries.ts';
import { openOperatorsApi, OPERATOR_ID, type OperatorsApi } from '#test/open-operators-api.ts';
import { readDeliveries } from '#test/listed-deliveries.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { startSenderTo } from '#test/test-sender.ts';

import { startRecoveries } from './recoveries.job.ts';

const MISSED = scaled(300, 10_000);
const PATIENCE_MS = scaled(60_000, 240_000);

let database: TestDatabase;
let api: OperatorsApi;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  api = await openOperatorsApi(database.db);
});
afterEach(() => emptyQueue(database.db));
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** The roles of one sender process. */
function startProcess(receiver: Receiver, bounds: { inFlightPerLaneMax?: number } = {}) {
  const sender = startSenderTo(database.db, { shop: receiver }, bounds);
  const job = startRecoveries({
    db: database.db,
    clock: databaseClock,
    logger: createLogger('test', 'silent'),
    wakeSenders: sender.wake,
  });
  return {
    wake: sender.wake,
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]();
      await sender[Symbol.asyncDispose]();
    },
  };
}

async function recover(accountId: string, changes: object = {}): Promise<string> {
  const { body } = await api.call('POST /internal/recoveries', {
    operator_id: OPERATOR_ID,
    recovery_id: newId(),
    body: {
      account_id: accountId,
      created_from: new Date(Date.now() - 3_600_000).toISOString(),
      created_until: new Date(Date.now() + 3_600_000).toISOString(),
      rate_per_second: 1_000,
      ...changes,
    },
  });
  return (body as Recovery).id;
}

async function show(id: string): Promise<Recovery> {
  return (await api.call(`GET /internal/recoveries/${id}`)).body as Recovery;
}

async function untilShown(id: string, state: object): Promise<Recovery> {
  return await eventually(async () => {
    const recovery = await show(id);
    expect(recovery).toMatchObject(state);
    return recovery;
  }, PATIENCE_MS);
}

function sentIds(receiver: Receiver): string[] {
  return receiver.requests.map(({ headers }) => String(headers['x-webhook-delivery']));
}

/** Of several endpoints and of URLs of resources. */
async function storeOutage(accountId: AccountId, count: number): Promise<string[]> {
  const ids: string[] = [];
  const lanes = 5;
  for (let lane = 0; lane < lanes; lane += 1) {
    const endpoint = lane === 0 ? null : await storeEndpoint(database.db, { accountId });
    const endpointId = endpoint?.id ?? null;
    const missed = { accountId, endpointId, count: count / lanes };
    ids.push(...(await storeFinished(database.db, missed)));
  }
  return ids;
}

/** An application's endpoint that has missed so many, and their recovery. */
async function recoverAnEndpoint(count: number) {
  const application = anApplication();
  const { accountId } = application.owner;
  const endpoint = await storeEndpoint(database.db, application.owner);
  await storeFinished(database.db, { accountId, endpointId: endpoint.id, count });
  return { application, endpoint, id: await recover(accountId) };
}

test(
  'what an outage left behind is sent once each, and counted',
  { timeout: 300_000 },
  async () => {
    await using receiver = await startReceiver((request, response) => {
      // Some still do not arrive.
      const isRefused = /^.{23}[0-3]/.test(String(request.headers['x-webhook-delivery']).slice(12));
      response.writeHead(isRefused ? 500 : 200).end();
    });
    const accountId = newId<AccountId>();
    const ids = await storeOutage(accountId, MISSED);
    const id = await recover(accountId);
    await using _process = startProcess(receiver);
    const done = await untilShown(id, { status: 'completed' });
    expect(done.queued).toBe(MISSED);
    expect(done.succeeded + done.failed).toBe(MISSED);
    expect(done.ended_at).not.toBeNull();
    expect(sentIds(receiver).toSorted()).toEqual(ids.toSorted());
    const [stored] = await database.db.query<{ succeeded: number; attempts: number }>(sql`
    select
      count(*) filter (where status = 'succeeded')::int as succeeded,
      (select count(*)::int from attempts where manual and delivery_id = any (${ids}::uuid[])) as attempts
    from deliveries
    where id = any (${ids}::uuid[])`);
    expect(stored).toEqual({ succeeded: done.succeeded, attempts: MISSED });
  },
);

test(
  'a restart in the middle loses nothing and repeats nothing',
  { timeout: 300_000 },
  async () => {
    await using receiver = await startReceiver();
    const accountId = newId<AccountId>();
    const ids = await storeOutage(accountId, MISSED);
    const id = await recover(accountId);
    const first = startProcess(receiver);
    await eventually(
      () => expect(receiver.requests.length).toBeGreaterThan(MISSED / 10),
      PATIENCE_MS,
    );
    await first[Symbol.asyncDispose]();
    const midway = await show(id);
    expect(midway.status).not.toBe('completed');
    await using _second = startProcess(receiver);
    await using _third = startProcess(receiver);
    expect(await untilShown(id, { status: 'completed' })).toMatchObject({
      queued: MISSED,
      succeeded: MISSED,
      failed: 0,
    });
    expect(sentIds(receiver).toSorted()).toEqual(ids.toSorted());
  },
);

test(
  'a cancellation in the middle leaves what was not sent yet',
  { timeout: 300_000 },
  async () => {
    await using receiver = await startReceiver();
    const accountId = newId<AccountId>();
    await storeOutage(accountId, MISSED);
    const id = await recover(accountId, { rate_per_second: 300 });
    const process = startProcess(receiver);
    await eventually(
      () => expect(receiver.requests.length).toBeGreaterThan(MISSED / 20),
      PATIENCE_MS,
    );
    const act = { operator_id: OPERATOR_ID };
    const { body } = await api.call(`POST /internal/recoveries/${id}/cancel`, act);
    expect(body.status).toBe('canceled');
    const waiting = await database.db.query(sql`select id from queue where recovery_id = ${id}`);
    // What was being recorded at that very moment goes with its record.
    expect(waiting.length).toBeLessThan(128);
    await process[Symbol.asyncDispose]();
    const end = await show(id);
    expect(end.status).toBe('canceled');
    expect(receiver.requests.length).toBeLessThan(MISSED);
    expect(end.succeeded + end.failed).toBe(receiver.requests.length);
    expect(await database.db.query(sql`select id from queue where recovery_id = ${id}`)).toEqual(
      [],
    );
  },
);

test('live deliveries of the same lane go before everything that is recovered', async () => {
  await using receiver = await startReceiver();
  const { application, id } = await recoverAnEndpoint(100);
  await using process = startProcess(receiver, { inFlightPerLaneMax: 1 });
  await eventually(() => expect(receiver.requests.length).toBeGreaterThan(3));
  const live: { id: string; sentBefore: number }[] = [];
  for (let n = 0; n < 5; n += 1) {
    const event = application.anEvent();
    await take(database.db, event, { wakeSenders: process.wake });
    const sentBefore = receiver.requests.length;
    const [delivery] = await readDeliveries(database.db, event.data.id);
    live.push({ id: delivery!.id, sentBefore });
  }
  await untilShown(id, { status: 'completed', succeeded: 100 });
  const sent = sentIds(receiver);
  for (const { id: deliveryId, sentBefore } of live) {
    // What was out or fetched already at that moment, and other live ones.
    expect(sent.indexOf(deliveryId)).toBeLessThanOrEqual(sentBefore + 2 + live.length);
  }
  const places = live.map((one) => sent.indexOf(one.id));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test('a live delivery finds a slot while a slow receiver holds all that is recovered', async () => {
  const held: (() => void)[] = [];
  let liveId: string | null = null;
  await using receiver = await startReceiver(({ headers }, response) => {
    const answer = () => void response.writeHead(200).end();
    if (headers['x-webhook-delivery'] === liveId) answer();
    else held.push(answer);
  });
  const { application, endpoint, id } = await recoverAnEndpoint(20);
  await using process = startProcess(receiver, { inFlightPerLaneMax: 6 });
  await eventually(() => expect(held).toHaveLength(2));
  const event = application.anEvent();
  liveId = deliveryIdOf(event.event_id, endpoint.id);
  await take(database.db, event, { wakeSenders: process.wake });
  await eventually(() => expect(sentIds(receiver)).toContain(liveId));
  expect(held).toHaveLength(2);
  await eventually(async () => {
    for (const answer of held.splice(0)) answer();
    expect(await show(id)).toMatchObject({ status: 'completed', succeeded: 20 });
  }, PATIENCE_MS);
});
