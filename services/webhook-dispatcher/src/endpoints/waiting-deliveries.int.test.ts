import { AppError } from '@pixmesh/kernel/app-error';
import { type EndpointId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { CANCELED_PER_STATEMENT_MAX, cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import { claimLanes } from '#lanes/claim-lanes.sql.ts';
import { lockLanesToQueue } from '#lanes/lanes.sql.ts';
import { releaseLanes } from '#lanes/release-lanes.sql.ts';
import { databaseClock as clock } from '#schedule-clock.ts';
import { claimOptions } from '#test/claim-options.ts';
import { queueDelivery, queueMany, readLane, statusesOf } from '#test/queued-deliveries.ts';
import {
  anEndpointBody,
  type EndpointsApi,
  type Json,
  startEndpointsApi,
} from '#test/start-endpoints-api.ts';
import { endpointDeps } from '#test/store-endpoint.ts';

import { changeEndpoint } from './change-endpoint.ts';
import type { EndpointOwner } from './endpoint-row.ts';
import { removeEndpoint } from './remove-endpoint.ts';

const caller = aCaller();
const owner: EndpointOwner = {
  accountId: caller.account_id,
  applicationId: caller.application_id,
};
/** A few batches and a bit. */
const MANY = 2 * CANCELED_PER_STATEMENT_MAX + 1;

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
const aDelivery = (given: object = {}) =>
  queueDelivery(api.db, { endpointId: endpoint.id, ...given });
const statusOf = (ids: readonly string[]) => statusesOf(api.db, ids);
const lane = (id: string = endpoint.id) => readLane(api.db, id);

/** The rows of the queue as they stand. */
const queued = async (): Promise<Json[]> =>
  await api.db.query(sql`select * from queue where endpoint_id = ${endpoint.id} order by id`);

/** A sender takes the lane of the endpoint, whatever stands in it. */
async function serve() {
  await api.db.query(sql`update lanes set claimable_at = '-infinity' where id = ${endpoint.id}`);
  const [claimed] = await claimLanes(api.db, claimOptions({ clock, leaseMs: 60_000 }));
  expect(claimed?.id).toBe(endpoint.id);
  return claimed!;
}

test('an endpoint has its lane from the beginning, so that there is a row to hold', async () => {
  expect(await lane()).toEqual({ waiting: 0, leased: false, wakes: 'never' });
});

describe('pausing an endpoint', () => {
  test('moves nothing: the sender that meets its lane lets it sleep', async () => {
    await aDelivery({ dueInMs: 0 });
    const before = await queued();
    await patch({ active: false });
    expect(await queued()).toEqual(before);
    await releaseLanes(api.db, clock, [await serve()]);
    expect(await lane()).toEqual({ waiting: 1, leased: false, wakes: 'never' });
  });
});

describe('resuming an endpoint', () => {
  beforeEach(async () => {
    await patch({ active: false });
  });

  test('wakes its lane, one row, and leaves each delivery to its schedule', async () => {
    await queueMany(api.db, { endpointId: endpoint.id, count: MANY });
    const before = await queued();
    expect(await lane()).toMatchObject({ wakes: 'never' });
    expect((await patch({ active: true })).body.active).toBe(true);
    expect(await lane()).toEqual({ waiting: MANY, leased: false, wakes: 'now' });
    expect(await queued()).toEqual(before);
  });

  test('wakes senders for its lane alone, and only then', async () => {
    const deps = endpointDeps(api.db);
    const id = endpoint.id as EndpointId;
    const change = (body: object) =>
      changeEndpoint(deps, owner, { id, readBody: () => ({ ...body }) });
    await change({ active: false });
    await change({ url: 'https://b.receiver.example.com/', description: 'x', secret: null });
    expect(deps.hinted).toEqual([]);
    await change({ active: true });
    expect(deps.hinted).toEqual([id]);
  });

  test('leaves a lane to the sender that serves it, which reads again before it releases', async () => {
    await aDelivery({ dueInMs: 0 });
    const claimed = await serve();
    await patch({ active: true });
    expect(await lane()).toMatchObject({ leased: true });
    await releaseLanes(api.db, clock, [claimed]);
    expect(await lane()).toEqual({ waiting: 1, leased: false, wakes: 'now' });
  });

  test('does not lose its wake-up to a sender that lets the lane go at the same moment', async () => {
    await aDelivery({ dueInMs: 0 });
    for (let turn = 0; turn < 20; turn += 1) {
      await patch({ active: false });
      const claimed = await serve();
      await Promise.all([patch({ active: true }), untilReleased(claimed)]);
      expect(await lane()).toEqual({ waiting: 1, leased: false, wakes: 'now' });
    }
  });

  test.each([
    { name: 'a change of a paused one', body: { description: 'x', secret: null } },
    { name: 'a change that is refused', body: { active: true, url: 'http://10.1/' } },
  ])('is not $name: the lane sleeps on', async ({ body }) => {
    await aDelivery({ dueInMs: 0 });
    await patch(body);
    expect(await lane()).toMatchObject({ wakes: 'never' });
  });
});

test('a change waits for transactions that queue for the endpoint, so each sees the other', async () => {
  let isChanged = false;
  let changing: Promise<unknown> = Promise.resolve();
  await api.db.transaction(async (tx) => {
    await lockLanesToQueue(tx, [endpoint]);
    changing = patch({ active: false }).then(() => (isChanged = true));
    // As long as the change takes when nothing holds it up, and more.
    for (let tries = 0; tries < 20; tries += 1) {
      await tx.query(sql`select pg_sleep(0.01)`);
      expect(isChanged).toBe(false);
    }
  });
  await changing;
  expect(isChanged).toBe(true);
});

describe('deleting an endpoint', () => {
  test('cancels what waits in its lane and keeps the rest as history', async () => {
    const waiting = [
      await aDelivery(),
      await aDelivery({ dueInMs: -60_000, rank: 1 }),
      await aDelivery({ dueInMs: 900_000 }),
    ];
    const over = [
      await aDelivery({ status: 'succeeded', dueInMs: null }),
      await aDelivery({ status: 'failed', dueInMs: null }),
      await aDelivery({ status: 'skipped', dueInMs: null }),
      // Was to be sent again by hand.
      await aDelivery({ status: 'failed', isResend: true }),
    ];
    const others = [
      await aDelivery({ endpointId: newId() }),
      await aDelivery({ forResourceUrl: true }),
    ];
    const before = await statusOf([...over, ...others]);
    const answer = await remove();
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('content-type')).toBeNull();
    expect(await statusOf(waiting)).toEqual(['canceled', 'canceled', 'canceled']);
    expect(await statusOf([...over, ...others])).toEqual(before);
    expect((await queued()).map((row) => row.delivery_id)).toEqual([others[1]]);
  });

  test('cancels what a sender has in its hands too', async () => {
    const id = await aDelivery({ dueInMs: 0 });
    await serve();
    await remove();
    expect(await statusOf([id])).toEqual(['canceled']);
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

  test('cancels nothing when another application asks for it, nor makes a lane of an unknown id', async () => {
    const id = await aDelivery();
    const stranger = aCaller({ account_id: caller.account_id });
    expect((await remove(stranger)).status).toBe(404);
    expect(await statusOf([id])).toEqual(['pending']);
    expect(await lane()).toMatchObject({ waiting: 1, wakes: 'never' });
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
    expect(await statusOf([id])).toEqual(['canceled']);
  });
});

describe('more deliveries of a deleted endpoint than one statement may move', () => {
  beforeEach(() => queueMany(api.db, { endpointId: endpoint.id, count: MANY }));

  test('are all canceled', async () => {
    expect((await remove()).status).toBe(204);
    expect(await countStates()).toEqual({ pending: 0, canceled: MANY });
    expect(await queued()).toEqual([]);
  });

  test('do not wait for one that is locked, nor does the answer', async () => {
    await api.db.transaction(async (tx) => {
      await tx.query(sql`select id from queue where lane_id = ${endpoint.id} limit 1 for update`);
      expect((await remove()).status).toBe(204);
    });
    expect(await countStates()).toEqual({ pending: 1, canceled: MANY - 1 });
    await untilReleased(await serve());
    expect(await lane()).toEqual({ waiting: 1, leased: false, wakes: 'now' });
  });

  test('are left to senders where the database fails: the change stands and their lane is awake', async () => {
    const deps = { ...endpointDeps(api.db), db: refusing(api.db, 'lanes_cancel') };
    await removeEndpoint(deps, owner, endpoint.id);
    expect(await countStates()).toEqual({ pending: MANY, canceled: 0 });
    expect((await remove()).status).toBe(404);
    expect(await lane()).toEqual({ waiting: MANY, leased: false, wakes: 'now' });
    expect(deps.hinted).toEqual([endpoint.id]);
    while ((await cancelLanes(api.db, [endpoint.id])) > 0);
    expect(await countStates()).toEqual({ pending: 0, canceled: MANY });
  });

  /** A database that goes away at one statement. */
  function refusing(db: Database, name: string): Database {
    return {
      ...db,
      query: async (statement) => {
        if (statement.name === name) throw new AppError('DEPENDENCY_UNAVAILABLE');
        return await db.query(statement);
      },
    };
  }
});

async function untilReleased(claimed: { id: string; fence: bigint }): Promise<void> {
  while ((await releaseLanes(api.db, clock, [claimed])).size === 0);
}

async function countStates(): Promise<Json> {
  const [counts] = await api.db.query<Json>(sql`
    select
      count(*) filter (where status = 'pending')::int as pending,
      count(*) filter (where status = 'canceled')::int as canceled
    from deliveries
    where endpoint_id = ${endpoint.id}`);
  return counts;
}
