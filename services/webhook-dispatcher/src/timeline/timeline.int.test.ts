import {
  PartialTimeline,
  TIMELINE_ENTRIES_MAX,
  TIMELINE_RESOURCES_MAX,
  type TimelineEntry,
} from '@pixmesh/contracts/internal/timeline';
import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { anApplication } from '#test/an-application.ts';
import { aLogged, storeLogged } from '#test/logged-deliveries.ts';
import { openOperatorsApi, OPERATOR_ID, type OperatorsApi } from '#test/open-operators-api.ts';
import { readDeliveries } from '#test/listed-deliveries.ts';
import { answerWith, startReceiver } from '#test/start-receiver.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { startSenderTo } from '#test/test-sender.ts';

import { timelineStatement } from './timeline.sql.ts';

let database: TestDatabase;
let api: OperatorsApi;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  api = await openOperatorsApi(database.db);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function readTimeline(resourceIds: readonly string[]): Promise<PartialTimeline> {
  const { status, body } = await api.call('POST /internal/timelines/deliveries', {
    resource_ids: resourceIds,
  });
  expect(status).toBe(200);
  return PartialTimeline.parse(body);
}

test('shows what was sent about a resource and how that went, in order', async () => {
  let status = 500;
  await using receiver = await startReceiver((request, response) =>
    answerWith(status)(request, response),
  );
  const application = anApplication();
  const url = 'http://shop.receiver.example.com/hook?token=a-secret';
  const endpoint = await storeEndpoint(database.db, { ...application.owner, url });
  const event = application.anEvent();
  const other = application.anEvent();
  const resourceId = event.data.id;
  await take(database.db, [event, other]);
  await using sender = startSenderTo(database.db, { shop: receiver });
  sender.wake([endpoint.id]);
  const [delivery] = await readDeliveries(database.db, resourceId);
  const id = delivery!.id;
  await untilCount(2);
  status = 204;
  await api.call(`POST /internal/operator-deliveries/${id}/resend`, { operator_id: OPERATOR_ID });
  sender.wake([endpoint.id]);
  const entries = await untilCount(3);
  const step = { service: 'webhook-dispatcher', resource_id: resourceId };
  const made = { duration_ms: expect.any(Number) as number, address: '127.0.0.1', delivery_id: id };
  expect(entries).toMatchObject([
    {
      ...step,
      kind: 'delivery',
      id,
      what: 'charge.pix.created → http://shop.receiver.example.com',
      details: { status: 'succeeded', endpoint_id: endpoint.id, delivery_id: id },
    },
    {
      ...step,
      kind: 'attempt',
      what: 'POST 500',
      details: { ...made, number: 1, status: 500, manual: false },
    },
    {
      ...step,
      kind: 'attempt',
      what: 'POST 204',
      details: { ...made, number: 2, status: 204, manual: true },
    },
  ]);
  // The log has the time of the event; a delivery is made once that has come here.
  expect(Date.parse(entries[0]!.at)).toBeGreaterThanOrEqual(delivery!.createdAt.getTime());
  expect(JSON.stringify(entries)).not.toContain('a-secret');
  expect(await readTimeline([newId()])).toEqual({ entries: [], truncated: false });

  async function untilCount(count: number): Promise<TimelineEntry[]> {
    return await eventually(async () => {
      const timeline = await readTimeline([resourceId]);
      expect(timeline).toMatchObject({ truncated: false });
      expect(timeline.entries).toHaveLength(count);
      return timeline.entries;
    });
  }
});

test('names what failed before an answer came', async () => {
  const row = aLogged({ ...aResource(), atMs: Date.now(), status: 'failed' });
  await storeLogged(database, [row]);
  await database.db.query(sql`
    insert into attempts (delivery_id, id, started_at, duration_ms, outcome, error)
    values (${row.id}, ${newId()}, now() + interval '1 hour', 10000, 'failed', 'timeout: no answer')`);
  const { entries } = await readTimeline([row.resourceId]);
  expect(entries.at(-1)).toMatchObject({ kind: 'attempt', what: 'POST failed: timeout' });
});

test('is bounded and marked so, and reads no more than it needs', async () => {
  const resources = Array.from({ length: 4 }, () => aResource());
  const rows = Array.from({ length: 4_000 }, (_, place) =>
    aLogged({
      ...resources[place % resources.length]!,
      endpointId: newId(),
      atMs: Date.now() + place * 600_000,
      status: 'succeeded',
    }),
  );
  const others = Array.from({ length: 8_000 }, (_, place) =>
    aLogged({ ...aResource(), atMs: Date.now() + place * 300_000, status: 'succeeded' }),
  );
  await storeLogged(database, [...rows, ...others]);
  const ids = resources.map(({ resourceId }) => resourceId);
  const { entries, truncated } = await readTimeline([...ids, ...ids]);
  expect([entries.length, truncated]).toEqual([TIMELINE_ENTRIES_MAX, true]);
  const times = entries.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  const statement = timelineStatement(ids, TIMELINE_ENTRIES_MAX + 1);
  const { name: _name, ...unnamed } = statement;
  // A small table may be read whole; the bound is on what grows.
  const options = { url: database.url, applicationName: 'test', max: 1, plansOnce: true };
  await using pool = createPool(options);
  const { scans, rowsRead } = await explainStatement(pool, unnamed);
  expect(scans).not.toContain('Bitmap Heap Scan');
  expect(rowsRead).toBeLessThanOrEqual((resources.length + 4) * (TIMELINE_ENTRIES_MAX + 1));
});

test('asks for at least one resource and for no more than the bound', async () => {
  const many = Array.from({ length: TIMELINE_RESOURCES_MAX + 1 }, () => newId());
  for (const body of [{}, { resource_ids: [] }, { resource_ids: many }]) {
    const answer = await api.call('POST /internal/timelines/deliveries', body);
    expect([answer.status, answer.body.details]).toEqual([400, ['resource_ids']]);
  }
});

function aResource() {
  return { accountId: newId(), resourceId: newId(), endpointId: null, event: 'charge.pix.paid' };
}
