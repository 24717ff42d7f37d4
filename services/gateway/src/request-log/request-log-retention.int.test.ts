import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { newId } from '@pixmesh/kernel/ids';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import { createPool, type Database, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { TEST_PASSWORD } from '@pixmesh/testkit/test-infra';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startRequestLogRetention } from './request-log-retention.job.ts';
import { startRequestLog } from './request-log.ts';
import { maintainRequestLog, listRequests } from './requests.sql.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
const PARTITIONING = '0005';
const DAY_MS = 24 * 60 * 60 * 1000;
const logger = createLogger('test', 'silent');
const NO_FILTER = { limit: 100, startingAfter: null, filters: {} };

/** What is recorded of a request that nobody sent to a route. */
const UNKNOWN_ROUTE = {
  caller: null,
  method: 'GET',
  route: null,
  status: 404,
  durationMs: 1,
  clientAddress: null,
  traceId: null,
  idempotencyMismatch: false,
};

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('gateway');
  admin = asAdmin(database, 3);
  await admin.query(sql`select set_config('search_path', 'gateway', false)`);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A look at what the role of the service may not see. */
function asAdmin({ adminUrl }: TestDatabase, max = 1): Database {
  return createPool({ url: adminUrl, applicationName: 'log-test', max });
}

function partitions(): Promise<{ name: string }[]> {
  return admin.query(
    sql`
      select inhrelid::regclass::text as name
      from pg_inherits
      where inhparent = 'gateway.request_log'::regclass
      order by name`,
  );
}

/** One row per week of the last `weeks` weeks, each in a partition of its own, as time makes them. */
async function growOldWeeks(db: Database, weeks: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(sql`set local search_path to gateway`);
    await tx.query(sql`set local timezone to 'UTC'`);
    await tx.query(sql`drop table request_log_first`);
    for (let age = 0; age <= weeks; age += 1) {
      await tx.query(sql`select set_config('test.age', ${String(age)}, true)`);
      await tx.query(sql`
        do $$
        declare
          week timestamptz := date_trunc('week', now())
            - current_setting('test.age')::integer * interval '1 week';
        begin
          execute format(
            'create table if not exists request_log_%s partition of request_log for values from (%L) to (%L)',
            to_char(week, 'YYYYMMDD'), uuid_v7_floor(week), uuid_v7_floor(week + interval '1 week')
          );
          insert into request_log
            (id, method, route, status, duration_ms, request_id, idempotency_mismatch, created_at)
          select id, 'GET', '/v1/account', 200, 1, id, false, week
          from (select uuid_v7_floor(week) as id) as first;
        end
        $$`);
    }
  });
}

describe('the retention', () => {
  test('drops the weeks that are old as a whole, and nothing else', async () => {
    await growOldWeeks(admin, 20);
    expect(await maintainRequestLog(database.db, 90)).toBeGreaterThan(0);
    const rows = await listRequests(database.db, NO_FILTER);
    const oldestMs = Math.min(...rows.map((row) => row.createdAt.getTime()));
    // A week stays as long as one of its rows may be younger than 90 days.
    expect(Date.now() - oldestMs).toBeGreaterThan(83 * DAY_MS);
    expect(Date.now() - oldestMs).toBeLessThan(97 * DAY_MS);
    expect(rows.length).toBeGreaterThanOrEqual(13);
    expect(await maintainRequestLog(database.db, 90)).toBe(0);
  });

  test('is enforced by the job at the start of each process, by one at a time', async () => {
    const before = (await partitions()).length;
    const jobs = [1, 2, 3].map(() =>
      startRequestLogRetention({ db: database.db, logger, keepDays: 30 }),
    );
    await Promise.all(jobs.map((job) => job[Symbol.asyncDispose]()));
    expect((await partitions()).length).toBeLessThan(before);
    const [oldest] = (await listRequests(database.db, NO_FILTER)).slice(-1);
    expect(Date.now() - Number(oldest?.createdAt)).toBeLessThan(37 * DAY_MS);
  });

  test('leaves the work to whoever holds the lease', async () => {
    await admin.transaction(async (tx) => {
      await tx.query(sql`select from gateway.leases where name = 'request-log' for update`);
      expect(await maintainRequestLog(database.db, 7)).toBe(0);
    });
    expect(await maintainRequestLog(database.db, 7)).toBeGreaterThan(0);
  });

  test('gives way to a reader, makes the weeks to come, keeps no writer waiting, and is done by a later try', async () => {
    await using own = await createTestDatabase('gateway');
    await using owner = asAdmin(own, 2);
    await growOldWeeks(owner, 20);
    const weeks = () =>
      owner.query(sql`select from pg_inherits where inhparent = 'gateway.request_log'::regclass`);
    const before = (await weeks()).length;
    await owner.transaction(async (tx) => {
      await tx.query(sql`lock table gateway.request_log in access share mode`);
      const kept = maintainRequestLog(own.db, 30);
      const writers = Array.from({ length: 20 }, () =>
        own.db.transaction(async (writer) => {
          await writer.query(sql`set local lock_timeout to '1s'`);
          await insertAsBefore(writer, newId());
        }),
      );
      await expect(kept).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      await Promise.all(writers);
      expect((await weeks()).length).toBeGreaterThan(before);
    });
    await eventually(async () => expect(await maintainRequestLog(own.db, 30)).toBeGreaterThan(0));
  });

  test('cannot be used to wipe the log of last week', async () => {
    for (const days of [6, 0, -1]) {
      // A refusal is heard a moment before the lease behind it is free again.
      await eventually(() =>
        expect(maintainRequestLog(database.db, days)).rejects.toMatchObject({ code: '23514' }),
      );
    }
  });

  test('has partitions ready for the weeks to come, out of the role’s own reach', async () => {
    await using own = await createTestDatabase('gateway');
    await maintainRequestLog(own.db, 30);
    await using owner = asAdmin(own);
    const rights = await owner.query<{ right: boolean }>(
      sql`
        select has_table_privilege(
          'pixmesh_gateway', inhrelid, 'select, insert, update, delete, truncate'
        ) as right
        from pg_inherits
        where inhparent = 'gateway.request_log'::regclass`,
    );
    expect(rights.length).toBeGreaterThanOrEqual(5);
    expect(rights.filter(({ right }) => right)).toEqual([]);
  });
});

describe('the log', () => {
  test('gives up rows that have no place, and goes on with the others', async () => {
    await using own = await createTestDatabase('gateway');
    const log = startRequestLog({ db: own.db, logger });
    // The year 10889: no partition.
    for (let count = 0; count < 500; count += 1) {
      log.record({
        ...UNKNOWN_ROUTE,
        requestId: `ffffffff-ffff-7000-8000-${String(count).padStart(12, '0')}`,
      });
    }
    const requestId = newId();
    log.record({ ...UNKNOWN_ROUTE, requestId });
    await log[Symbol.asyncDispose]();
    const rows = await listRequests(own.db, NO_FILTER);
    expect(rows.map((stored) => [stored.id, stored.route])).toEqual([[requestId, null]]);
  });

  test('is found by instants as by ids, from the millisecond after to the one before', async () => {
    await using own = await createTestDatabase('gateway');
    const log = startRequestLog({ db: own.db, logger });
    log.record({ ...UNKNOWN_ROUTE, requestId: newId() });
    await log[Symbol.asyncDispose]();
    const [stored] = await listRequests(own.db, NO_FILTER);
    const at = Number(stored?.createdAt);
    const count = async (filters: object) =>
      (await listRequests(own.db, { ...NO_FILTER, filters })).length;
    expect(await count({ created_after: new Date(at) })).toBe(0);
    expect(await count({ created_after: new Date(at - 1) })).toBe(1);
    expect(await count({ created_before: new Date(at) })).toBe(0);
    expect(await count({ created_before: new Date(at + 1) })).toBe(1);
    expect(
      await count({
        created_after: new Date('0001-01-01'),
        created_before: new Date('9999-12-31'),
      }),
    ).toBe(1);
    expect(await count({ created_before: new Date('0001-01-01') })).toBe(0);
  });

  test('of the release before is kept where it becomes partitioned', async () => {
    await using own = await createTestDatabase('gateway');
    await using owner = asAdmin(own);
    const dir = mkdtempSync(path.join(tmpdir(), 'pixmesh-log-'));
    try {
      const files = readdirSync(MIGRATIONS).filter((name) => name < PARTITIONING);
      for (const name of files) cpSync(path.join(MIGRATIONS, name), path.join(dir, name));
      await owner.query(sql`drop schema gateway cascade`);
      const job = { adminUrl: own.adminUrl, schema: 'gateway', password: TEST_PASSWORD };
      await migrateSchema({ ...job, migrationsDir: dir, mechanisms: ['outbox'] });
      const old = newId();
      await insertAsBefore(own.db, old);
      await migrateSchema({ ...job, migrationsDir: MIGRATIONS, mechanisms: ['outbox'] });
      const young = newId();
      await insertAsBefore(own.db, young);
      const rows = await listRequests(own.db, NO_FILTER);
      expect(rows.map(({ id }) => id)).toEqual([young, old]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

/** The statement of the release before, which runs beside this one for a while. */
async function insertAsBefore(db: Queryable, id: string): Promise<void> {
  await db.query(
    sql`
      insert into request_log (
        id, account_id, application_id, key_id, method, route, status, duration_ms, request_id,
        idempotency_mismatch, created_at
      )
      values (${id}, null, null, null, 'GET', 'unknown', 404, 1, ${newId()}, false, now())
      on conflict (id) do nothing`,
  );
}
