import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { aCaller } from '@pixmesh/testkit/test-tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { databaseClock } from '#sending/schedule-clock.ts';
import { withholdDeliveries } from '#sending/withhold-deliveries.sql.ts';
import {
  anEndpointBody,
  type EndpointsApi,
  type Json,
  startEndpointsApi,
} from '#testing/start-endpoints-api.ts';

import type { EndpointOwner } from './endpoint-row.ts';
import { removeEndpoint } from './remove-endpoint.ts';
import { SWEEP_BATCH, sweepDeliveries } from './sweep-deliveries.ts';
import { cancelWaiting } from './waiting-deliveries.sql.ts';

const caller = aCaller();

let api: EndpointsApi;
let endpoint: Json;

beforeAll(async () => {
  api = await startEndpointsApi();
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(async () => {
  endpoint = (await api.request(caller, 'POST /v1/webhooks', anEndpointBody())).body;
});

const patch = (body: object) => api.request(caller, `PATCH /v1/webhooks/${endpoint.id}`, body);
const remove = (by = caller) => api.request(by, `DELETE /v1/webhooks/${endpoint.id}`);

type Waiting = {
  status?: string;
  leased?: boolean;
  nextInMs?: number;
  dueInMs?: number;
  of?: string;
  /** Whether it stands for the URL of its resource too. */
  forBoth?: boolean;
};

/** A delivery as senders leave it; times count from now. */
async function aDelivery(waiting: Waiting = {}): Promise<string> {
  const { status = 'pending', leased = false, nextInMs = 60_000, dueInMs = 900_000 } = waiting;
  const id = newId();
  const next = status === 'pending' ? nextInMs : null;
  await api.db.query(
    named(
      'test_delivery',
      sql`
        insert into deliveries (
          id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id, status, leased,
          fence, for_resource_url, next_attempt_at, due_at
        )
        values (
          ${id}, ${newId()}, ${waiting.of ?? endpoint.id}, ${caller.account_id}, ${newId()}, 'charge.pix.paid',
          ${newId()}, ${waiting.of ?? endpoint.id}, ${status}, ${leased}, 3,
          ${waiting.forBoth ?? false}, now() + ${next}::float8 * interval '1 millisecond', now() + ${dueInMs}::float8 * interval '1 millisecond'
        )`,
    ),
  );
  return id;
}

async function rowsOf(ids: readonly string[]): Promise<Json[]> {
  const rows = await api.db.query<{ id: string }>(
    named(
      'test_deliveries',
      sql`
        select id, status, leased, fence, next_attempt_at, due_at, due_at = next_attempt_at as is_on_schedule,
          due_at <= now() as is_due
        from deliveries
        where id = any (${ids}::uuid[])`,
    ),
  );
  return ids.map((id) => rows.find((row) => row.id === id));
}

/** As many that have been put off, and each differently from the one before. */
async function manyPutOff(count: number): Promise<void> {
  await api.db.query(
    sql`
      insert into deliveries (
        id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id, next_attempt_at, due_at
      )
      select
        gen_random_uuid(), gen_random_uuid(), ${endpoint.id}, ${caller.account_id}, gen_random_uuid(),
        'charge.pix.paid', ${endpoint.id}, ${endpoint.id}, now() + place * interval '1 second' / 100,
        now() + interval '15 minutes' + place % 7 * interval '1 second'
      from generate_series(1, ${count}::int) as place`,
  );
}

async function countStates(): Promise<Json> {
  const [counts] = await api.db.query<Json>(sql`
    select
      count(*) filter (where status = 'pending')::int as pending,
      count(*) filter (where status = 'canceled')::int as canceled,
      count(*) filter (where status = 'pending' and due_at > greatest(next_attempt_at, now()))::int as put_off,
      count(*) filter (where due_at < next_attempt_at)::int as early
    from deliveries
    where endpoint_id = ${endpoint.id}`);
  return counts;
}

/** A few batches and a bit. */
const MANY = 2 * SWEEP_BATCH + 1;

describe('more deliveries than one statement may move', () => {
  beforeEach(() => manyPutOff(MANY));

  test('all come forward when the endpoint is resumed, none early', async () => {
    await patch({ active: false });
    await patch({ active: true });
    expect(await countStates()).toEqual({ pending: MANY, canceled: 0, put_off: 0, early: 0 });
  });

  test('are all canceled when the endpoint is deleted', async () => {
    expect((await remove()).status).toBe(204);
    expect(await countStates()).toMatchObject({ pending: 0, canceled: MANY });
  });

  test('do not wait for one that somebody has locked, nor does the answer', async () => {
    await api.db.transaction(async (tx) => {
      await tx.query(
        sql`select id from deliveries where endpoint_id = ${endpoint.id} limit 1 for update`,
      );
      expect((await remove()).status).toBe(204);
    });
    expect(await countStates()).toMatchObject({ pending: 1, canceled: MANY - 1 });
  });

  test('are left to senders where the time is over or the database fails: the change stands', async () => {
    const owner = ownerOfCaller();
    const logger = createLogger('test', 'silent');
    const target = { step: cancelWaiting, owner, endpointId: endpoint.id };
    await sweepDeliveries({ db: api.db, logger }, target, { batch: 10, maxMs: 0 });
    expect(await countStates()).toMatchObject({ pending: MANY - 10, canceled: 10 });
    await removeEndpoint({ db: refusing(api.db, 'deliveries_cancel'), logger }, owner, endpoint.id);
    expect(await countStates()).toMatchObject({ pending: MANY - 10, canceled: 10 });
    expect((await remove()).status).toBe(404);
    expect(await withholdDeliveries(api.db, databaseClock, [endpoint.id])).toBe(MANY - 10);
  });

  function ownerOfCaller(): EndpointOwner {
    const { account_id: accountId, application_id: applicationId } = caller;
    return { accountId, applicationId };
  }

  /** A database that goes away at one statement. */
  function refusing(db: Queryable, name: string): Queryable {
    return {
      query: async (statement) => {
        if (statement.name === name) throw new AppError('DEPENDENCY_UNAVAILABLE');
        return await db.query(statement);
      },
    };
  }
});

describe('resuming an endpoint', () => {
  test('brings what waited back to its schedule, and what is over due to now', async () => {
    await patch({ active: false });
    const ids = [await aDelivery(), await aDelivery({ nextInMs: -60_000 })];
    expect((await patch({ active: true })).body.active).toBe(true);
    const [later, overdue] = await rowsOf(ids);
    expect(later).toMatchObject({ status: 'pending', is_on_schedule: true, is_due: false });
    expect(overdue).toMatchObject({ status: 'pending', is_due: true });
    expect(overdue.next_attempt_at.getTime()).toBeLessThan(Date.now() - 50_000);
  });

  test('leaves alone what a sender has, what is over and what is of others', async () => {
    await patch({ active: false });
    const ids = [
      await aDelivery({ leased: true }),
      await aDelivery({ status: 'succeeded' }),
      await aDelivery({ status: 'skipped' }),
      await aDelivery({ of: newId() }),
      await aDelivery({ forBoth: true }),
      // Waits for its next attempt, which nobody has put off.
      await aDelivery({ nextInMs: 900_000, dueInMs: 900_000 }),
      await aDelivery({ nextInMs: -900_000, dueInMs: -60_000 }),
    ];
    const before = await rowsOf(ids);
    await patch({ active: true });
    expect(await rowsOf(ids)).toEqual(before);
  });

  test.each([
    { name: 'a pause', from: true, body: { active: false } },
    { name: 'a change of a paused one', from: false, body: { description: 'x', secret: null } },
    { name: 'a change that is refused', from: false, body: { active: true, url: 'http://10.1/' } },
  ])('is not $name: deliveries stay as they are', async ({ from, body }) => {
    await patch({ active: from });
    const ids = [await aDelivery(), await aDelivery({ nextInMs: -60_000 })];
    const before = await rowsOf(ids);
    await patch(body);
    expect(await rowsOf(ids)).toEqual(before);
  });
});

describe('deleting an endpoint', () => {
  test('cancels what waits, also under a claim, and keeps the rest as history', async () => {
    const waiting = [await aDelivery(), await aDelivery({ leased: true })];
    const over = [await aDelivery({ status: 'succeeded' }), await aDelivery({ status: 'failed' })];
    const others = [await aDelivery({ of: newId() }), await aDelivery({ forBoth: true })];
    const before = await rowsOf([...over, ...others]);
    const answer = await remove();
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('content-type')).toBeNull();
    expect(await rowsOf(waiting)).toMatchObject([
      { status: 'canceled', next_attempt_at: null, leased: false, fence: 3 },
      { status: 'canceled', next_attempt_at: null, leased: true, fence: 3 },
    ]);
    expect(await rowsOf([...over, ...others])).toEqual(before);
  });

  test('hides it from every route; a second time it is unknown', async () => {
    await remove();
    const unknown = await api.request(caller, `DELETE /v1/webhooks/${newId()}`);
    const again = await remove();
    expect([again.status, again.text]).toEqual([404, unknown.text]);
    expect((await patch({ active: true })).text).toBe(unknown.text);
    const list = await api.request(caller, 'GET /v1/webhooks');
    expect(list.body.data.map(({ id }: Json) => id)).not.toContain(endpoint.id);
  });

  test('succeeds for exactly one of many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove()));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(404)]);
  });

  test('cancels nothing when somebody else asks for it', async () => {
    const id = await aDelivery();
    const stranger = aCaller({ account_id: caller.account_id });
    expect((await remove(stranger)).status).toBe(404);
    expect(await rowsOf([id])).toMatchObject([{ status: 'pending' }]);
  });

  test('and changing it at once ends in a deleted one, never in an error', async () => {
    const id = await aDelivery();
    await patch({ active: false });
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => patch({ active: true })),
      remove(),
      ...Array.from({ length: 4 }, () => patch({ active: false })),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 204, 404].includes(status))).toEqual([]);
    // What a resumption had locked at that moment is left to the next sender.
    await withholdDeliveries(api.db, databaseClock, [endpoint.id]);
    expect(await rowsOf([id])).toMatchObject([{ status: 'canceled' }]);
  });
});
