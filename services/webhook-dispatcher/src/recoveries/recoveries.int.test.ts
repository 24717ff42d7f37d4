import { Recovery } from '@pixmesh/contracts/internal/operator-deliveries';
import { type AccountId, type EndpointId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { storeFinished } from '#test/finished-deliveries.ts';
import { openOperatorsApi, OPERATOR_ID, type OperatorsApi } from '#test/open-operators-api.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { removeStoredEndpoint, storeEndpoint } from '#test/store-endpoint.ts';
import { type TurnableClock, turnableClock } from '#test/test-sender.ts';

import { completeRecoveries, findOpenRecoveries, findRecovery } from './recoveries.sql.ts';
import { type StepDeps, stepRecovery, StepUndone, WAITING_MAX } from './step-recovery.ts';

const FROM = new Date(Date.now() - 3_600_000);
const UNTIL = new Date(Date.now() + 3_600_000);

let database: TestDatabase;
let api: OperatorsApi;
let accountId: AccountId;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  api = await openOperatorsApi(database.db);
});
afterEach(() => emptyQueue(database.db));
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function anOrder(changes: object = {}): object {
  return {
    account_id: accountId,
    created_from: FROM.toISOString(),
    created_until: UNTIL.toISOString(),
    rate_per_second: 1_000,
    ...changes,
  };
}

function ask(body: object | null, recoveryId = newId()) {
  return api.call('POST /internal/recoveries', {
    operator_id: OPERATOR_ID,
    recovery_id: recoveryId,
    body,
  });
}

async function create(changes: object = {}): Promise<Recovery> {
  const { status, body } = await ask(anOrder(changes));
  expect(status).toBe(201);
  return Recovery.parse(body);
}

function cancel(id: string) {
  return api.call(`POST /internal/recoveries/${id}/cancel`, { operator_id: OPERATOR_ID });
}

/** Steps that a job would make, each when its rate allows some more. */
async function step(id: string, times: number, deps: Partial<StepDeps> = {}): Promise<void> {
  const clock = (deps.clock as TurnableClock | undefined) ?? turnableClock();
  for (let n = 0; n < times; n += 1) {
    clock.advance(200);
    const recovery = await findRecovery(database.db, id);
    if (recovery?.status === 'sending') await completeRecoveries(database.db);
    if (recovery?.status !== 'running') continue;
    await stepRecovery({ db: database.db, wakeSenders: () => undefined, ...deps, clock }, recovery);
  }
}

async function queuedOf(recoveryId: string): Promise<string[]> {
  const rows = await database.db.query<{ delivery_id: string }>(
    sql`select delivery_id from queue where recovery_id = ${recoveryId}`,
  );
  return rows.map((row) => row.delivery_id);
}

async function show(id: string): Promise<Recovery> {
  return Recovery.parse((await api.call(`GET /internal/recoveries/${id}`)).body);
}

describe('a request for a recovery', () => {
  beforeAll(() => {
    accountId = newId<AccountId>();
  });

  test('is stored with what it asks for, defaults spelled out', async () => {
    const id = newId();
    const body = { account_id: accountId.toUpperCase(), created_from: FROM, created_until: UNTIL };
    const answer = await ask(body, id);
    expect(answer).toMatchObject({ status: 201, replayed: false, mismatch: false });
    expect(answer.body).toEqual({
      id,
      object: 'recovery',
      account_id: accountId,
      application_id: null,
      endpoint_id: null,
      event: null,
      statuses: ['failed', 'skipped'],
      created_from: FROM.toISOString(),
      created_until: UNTIL.toISOString(),
      rate_per_second: 50,
      status: 'running',
      queued: 0,
      succeeded: 0,
      failed: 0,
      created_at: expect.any(String) as string,
      ended_at: null,
    });
    expect(await show(id)).toEqual(answer.body);
  });

  test('that is repeated is the same recovery, and marks one that meant something else', async () => {
    const id = newId();
    const [one, other] = await Promise.all([ask(anOrder(), id), ask(anOrder(), id)]);
    expect(one.body).toEqual(other.body);
    expect([one.replayed, other.replayed].toSorted()).toEqual([false, true]);
    expect([one.mismatch, other.mismatch]).toEqual([false, false]);
    const meant = await ask({ ...anOrder(), statuses: ['skipped', 'failed', 'failed'] }, id);
    expect(meant).toMatchObject({ status: 201, replayed: true, mismatch: false });
    for (const body of [anOrder({ rate_per_second: 7 }), {}, null]) {
      const answer = await ask(body, id);
      expect(answer).toMatchObject({ status: 201, replayed: true, mismatch: true, body: one.body });
    }
  });

  test.each([
    [{ account_id: 'x' }, ['account_id']],
    [{ endpoint_id: newId() }, ['endpoint_id']],
    [{ application_id: newId() }, ['application_id']],
    [{ event: 'webhook.test' }, ['event']],
    [{ statuses: [] }, ['statuses']],
    [{ statuses: ['pending'] }, ['statuses.0']],
    [{ created_from: '2026-11-21' }, ['created_from']],
    [{ created_until: FROM.toISOString() }, ['created_until']],
    [{ rate_per_second: 0 }, ['rate_per_second']],
    [{ rate_per_second: 1_001 }, ['rate_per_second']],
  ])('is refused by the name of its fault: %j', async (changes, details) => {
    const { status, body } = await ask(anOrder(changes));
    expect([status, body.code, body.details]).toEqual([400, 'VALIDATION_ERROR', details]);
  });

  test('without a body, and an unknown recovery, are refused', async () => {
    expect((await ask(null)).body.details).toEqual(['body']);
    for (const id of [newId(), 'x']) {
      expect((await api.call(`GET /internal/recoveries/${id}`)).body.code).toBe('NOT_FOUND');
      expect((await cancel(id)).body.code).toBe('NOT_FOUND');
    }
  });
});

describe('a recovery queues', () => {
  test('what did not arrive in its span of time, oldest first, behind everything else', async () => {
    accountId = newId<AccountId>();
    const wanted = [
      ...(await storeFinished(database.db, { accountId, count: 2 })),
      ...(await storeFinished(database.db, {
        accountId,
        count: 1,
        status: 'skipped',
        event: 'charge.pix.paid',
      })),
    ];
    for (const status of ['succeeded', 'canceled', 'pending']) {
      await storeFinished(database.db, { accountId, count: 1, status });
    }
    await storeFinished(database.db, { accountId: newId(), count: 1 });
    await storeFinished(database.db, { accountId, count: 1, at: new Date(FROM.getTime() - 1) });
    await storeFinished(database.db, { accountId, count: 1, at: UNTIL });
    await storeFinished(database.db, { accountId, count: 1, event: 'webhook.test' });
    const edge = await storeFinished(database.db, { accountId, count: 1, at: FROM });
    const { id } = await create();
    const woken: string[] = [];
    await step(id, 1, { wakeSenders: (laneIds) => void woken.push(...laneIds) });
    expect((await queuedOf(id)).toSorted()).toEqual([...wanted, ...edge].toSorted());
    expect(woken).toEqual([accountId]);
    const rows = await database.db.query(sql`
      select distinct rank, is_resend from queue where recovery_id = ${id}`);
    expect(rows).toEqual([{ rank: 2, is_resend: true }]);
    expect(await show(id)).toMatchObject({ status: 'sending', queued: 4 });
  });

  test('only what it names: application, endpoint, event, statuses', async () => {
    accountId = newId<AccountId>();
    const [one, other] = [
      await storeEndpoint(database.db, { accountId }),
      await storeEndpoint(database.db, { accountId }),
    ];
    const missed = { accountId, count: 1 };
    const [toOne] = await storeFinished(database.db, { ...missed, endpointId: one.id });
    const [toOther] = await storeFinished(database.db, {
      ...missed,
      endpointId: other.id,
      status: 'canceled',
    });
    const event = 'charge.pix.paid';
    const { applicationId } = one;
    const [own] = await storeFinished(database.db, { ...missed, event, applicationId });
    for (const [changes, wanted] of [
      [{ endpoint_id: one.id }, [toOne]],
      [{ application_id: applicationId }, [toOne, own]],
      [{ event }, [own]],
      [{ statuses: ['canceled'] }, [toOther]],
      [{ statuses: ['canceled', 'failed'], application_id: other.applicationId }, [toOther]],
    ] as const) {
      const { id } = await create(changes);
      await step(id, 1);
      const queued = (await queuedOf(id)).toSorted();
      expect({ changes, queued }).toEqual({ changes, queued: wanted.toSorted() });
    }
  });

  test('nothing for a deleted endpoint, and counts none of it', async () => {
    accountId = newId<AccountId>();
    const [deleted, living] = [
      await storeEndpoint(database.db, { accountId }),
      await storeEndpoint(database.db, { accountId }),
    ];
    await removeStoredEndpoint(database.db, deleted);
    await storeFinished(database.db, { accountId, count: 3, endpointId: deleted.id });
    const sent = await storeFinished(database.db, { accountId, count: 2, endpointId: living.id });
    const { id } = await create();
    await step(id, 1);
    expect((await queuedOf(id)).toSorted()).toEqual(sent.toSorted());
    expect(await show(id)).toMatchObject({ queued: 2, status: 'sending' });
  });

  test('by turns, and none waits for one that waits for what it has queued', async () => {
    accountId = newId<AccountId>();
    await storeFinished(database.db, { accountId, count: 10 });
    const [stuck, one, other] = [await create(), await create(), await create()];
    await database.db.query(sql`
      insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, rank, is_resend, recovery_id)
      select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${accountId}, false, 2, true, ${stuck.id}
      from generate_series(1, ${WAITING_MAX}::int)`);
    const order = async () => {
      const open = await findOpenRecoveries(database.db, { limit: 1_000, waitingMax: WAITING_MAX });
      const ids = [stuck.id, one.id, other.id];
      return open.flatMap(({ id }) => (ids.includes(id) ? [ids.indexOf(id)] : []));
    };
    expect(await order()).toEqual([1, 2, 0]);
    await step(one.id, 1);
    expect(await show(one.id)).toMatchObject({ queued: 10, status: 'sending' });
    expect((await order())[0]).toBe(2);
  });

  test('no more than waits at once, whatever its rate', async () => {
    accountId = newId<AccountId>();
    await storeFinished(database.db, { accountId, count: WAITING_MAX + 500 });
    const { id } = await create();
    const clock = turnableClock();
    await step(id, 12, { clock });
    expect(await queuedOf(id)).toHaveLength(WAITING_MAX);
    expect(await show(id)).toMatchObject({ queued: WAITING_MAX, status: 'running' });
    await emptyQueue(database.db);
    await step(id, 6, { clock });
    expect(await show(id)).toMatchObject({ queued: WAITING_MAX + 500, status: 'sending' });
    await emptyQueue(database.db);
    await step(id, 1, { clock });
    expect(await show(id)).toMatchObject({ queued: WAITING_MAX + 500, status: 'completed' });
  });

  test.each([1, 7, 50, 400])('%i a second at most, also after a standstill', async (rate) => {
    accountId = newId<AccountId>();
    await storeFinished(database.db, { accountId, count: 900 });
    const clock = turnableClock();
    const { id } = await create({ rate_per_second: rate });
    clock.advance(3_600_000);
    const startedMs = Date.now();
    for (let n = 0; n < 20; n += 1) await step(id, 1, { clock });
    const seconds = (20 * 200 + (Date.now() - startedMs)) / 1_000;
    const { queued } = await show(id);
    // A burst of what one turn may make up for comes on top.
    expect(queued).toBeLessThanOrEqual(Math.ceil(rate * (seconds + 0.2)) + 2);
    expect(queued).toBeGreaterThanOrEqual(Math.min(900, Math.floor(rate * 3)));
  });

  test('on and on once a clock that was ahead is set back', async () => {
    accountId = newId<AccountId>();
    await storeFinished(database.db, { accountId, count: 20 });
    const { id } = await create({ rate_per_second: 50 });
    await database.db.query(sql`
      update recoveries set paced_at = now() + interval '1 hour' where id = ${id}`);
    await step(id, 4, { clock: turnableClock() });
    expect(await show(id)).toMatchObject({ queued: 20, status: 'sending' });
  });

  test('every delivery once, also when several processes carry it on at once', async () => {
    accountId = newId<AccountId>();
    const ids = await storeFinished(database.db, { accountId, count: 700 });
    const { id } = await create();
    const clock = turnableClock();
    for (let n = 0; n < 12; n += 1) {
      clock.advance(200);
      const recovery = (await findRecovery(database.db, id))!;
      if (recovery.status !== 'running') break;
      const deps = { db: database.db, clock, wakeSenders: () => undefined };
      const steps = Array.from({ length: 4 }, () => stepRecovery(deps, recovery));
      const ends = await Promise.allSettled(steps);
      for (const end of ends) {
        if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(StepUndone);
      }
    }
    expect((await queuedOf(id)).toSorted()).toEqual(ids.toSorted());
    expect(await show(id)).toMatchObject({ queued: 700, status: 'sending' });
  });

  test('nothing by a step that does not come to its end, and everything by those after it', async () => {
    accountId = newId<AccountId>();
    const ids = await storeFinished(database.db, { accountId, count: 300 });
    const { id } = await create();
    const dying = {
      ...database.db,
      transaction: ((work) =>
        database.db.transaction(async (tx) => {
          await work(tx);
          throw new Error('died before the commit');
        })) as typeof database.db.transaction,
    };
    await expect(step(id, 1, { db: dying })).rejects.toThrow('died');
    expect(await queuedOf(id)).toEqual([]);
    await step(id, 4);
    expect((await queuedOf(id)).toSorted()).toEqual(ids.toSorted());
  });
});

describe('a cancellation', () => {
  test('drops what is not sent at once, and ends it', async () => {
    accountId = newId<AccountId>();
    await storeFinished(database.db, { accountId, count: 500 });
    const { id } = await create({ statuses: ['failed'] });
    await step(id, 1);
    const queued = (await queuedOf(id)).length;
    expect(queued).toBeGreaterThan(0);
    const answer = await cancel(id);
    expect(answer).toMatchObject({
      status: 200,
      replayed: false,
      body: { status: 'canceled', queued },
    });
    expect(answer.body.ended_at).not.toBeNull();
    expect(await queuedOf(id)).toEqual([]);
    const again = await cancel(id);
    expect(again).toMatchObject({ status: 200, replayed: true, body: answer.body });
    await step(id, 2);
    expect(await show(id)).toEqual(answer.body);
  });

  test('that comes in the middle of a step undoes the step', async () => {
    accountId = newId<AccountId>();
    await storeFinished(database.db, { accountId, count: 10 });
    const { id } = await create();
    const canceling = {
      ...database.db,
      transaction: ((work) =>
        database.db.transaction(
          async (tx) =>
            await work({
              ...tx,
              query: async (statement) => {
                if (statement.name === 'recovery_progress') await cancel(id);
                return await tx.query(statement);
              },
            }),
        )) as typeof database.db.transaction,
    };
    await expect(step(id, 1, { db: canceling })).rejects.toThrow(StepUndone);
    expect(await queuedOf(id)).toEqual([]);
    expect(await show(id)).toMatchObject({ status: 'canceled', queued: 0 });
  });

  test('of one that is completed is a conflict', async () => {
    accountId = newId<AccountId>();
    const { id } = await create({ endpoint_id: (await anEndpoint()) as string });
    await step(id, 3);
    expect(await show(id)).toMatchObject({ status: 'completed', queued: 0 });
    const { status, body } = await cancel(id);
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
  });

  async function anEndpoint(): Promise<EndpointId> {
    return (await storeEndpoint(database.db, { accountId })).id;
  }
});
