import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { renderMetrics, stopTelemetry } from '@pixmesh/telemetry/running-telemetry';
import { startTelemetry } from '@pixmesh/telemetry/start-telemetry';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { idAt, statusesOf } from '#test/queued-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import { startHistoryRetention } from './enforce-retention.job.ts';
import { enforceRetention } from './enforce-retention.sql.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
/** The first Monday of the clock. */
const FIRST_WEEK_MS = 4 * DAY_MS;
const KEEP_DAYS = 90;
const HISTORIES = ['attempts', 'deliveries', 'events'] as const;
const logger = createLogger('test', 'silent');

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  admin = await asOwner(database);
  await growOldWeeks(admin, 30);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Reads what the role of the service may not see. */
async function asOwner({ adminUrl }: TestDatabase): Promise<Database> {
  const owner = createPool({ url: adminUrl, applicationName: 'retention-test', max: 1 });
  await owner.query(sql`select set_config('search_path', 'webhook_dispatcher', false)`);
  return owner;
}

async function enforce(db: Database, keepDays: number, lines: string[] = []): Promise<number> {
  const logger = createLogger('test', 'warn', { write: (line) => void lines.push(line) });
  return (await enforceRetention({ db, logger }, keepDays)).dropped;
}

/** A delivery in each of the last weeks, in partitions of its own, as time makes them. */
async function growOldWeeks(db: Database, weeks: number): Promise<void> {
  await db.query(sql`select set_config('test.weeks', ${String(weeks)}, false)`);
  await db.query(sql`
    do $$
    declare
      week timestamptz;
      parent text;
    begin
      set local timezone to 'UTC';
      drop table events_first, deliveries_first, attempts_first;
      for age in 0..current_setting('test.weeks')::int loop
        week := date_trunc('week', now()) - age * interval '1 week';
        foreach parent in array array['events', 'deliveries', 'attempts'] loop
          execute format(
            'create table if not exists %I partition of %I for values from (%L) to (%L)',
            parent || '_' || to_char(week, 'YYYYMMDD'), parent, uuid_v7_floor(week),
            uuid_v7_floor(week + interval '1 week')
          );
        end loop;
        insert into events (event_id, type, account_id, resource_id, source, sequence, occurred_at, body_rest)
        values (uuid_v7_floor(week), 'charge.pix.paid', gen_random_uuid(), gen_random_uuid(), 'api', 1, week, '');
        insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, status)
        select event_id, event_id, resource_id, account_id, resource_id, type, gen_random_uuid(), 'succeeded'
        from events where event_id = uuid_v7_floor(week);
        insert into attempts (delivery_id, id, started_at, duration_ms, outcome)
        values (uuid_v7_floor(week), gen_random_uuid(), week, 1, 'succeeded');
      end loop;
    end
    $$`);
}

async function partitionsOf(
  db: Database,
  history: string,
): Promise<{ name: string; upper: string }[]> {
  return await db.query<{ name: string; upper: string }>(sql`
    select partition::text as name, upper_bound as upper
    from history_partitions(${history}::regclass)
    order by upper_bound`);
}

/** What the gauge shows of each history. */
async function weeksAhead(): Promise<Record<string, number>> {
  const lines = ((await renderMetrics()) ?? '').matchAll(
    /^partitions_ahead_seconds\{.*table="(?<table>\w+)".*\} (?<seconds>\S+)$/gm,
  );
  return Object.fromEntries(
    [...lines].map(({ groups }) => [
      groups?.['table'] ?? '',
      Math.floor((Number(groups?.['seconds']) * 1000) / WEEK_MS),
    ]),
  );
}

/** The ages in weeks of what is kept. */
async function agesOf(history: 'attempts' | 'deliveries' | 'events'): Promise<number[]> {
  const rows = await admin.query<{ id: string }>(
    history === 'events'
      ? sql`select event_id as id from events`
      : history === 'deliveries'
        ? sql`select id from deliveries`
        : sql`select delivery_id as id from attempts`,
  );
  const times = rows.map(({ id }) => Number.parseInt(id.replace('-', '').slice(0, 12), 16));
  const newest = Math.max(...times);
  return times.map((time) => Math.round((newest - time) / WEEK_MS)).toSorted((a, b) => a - b);
}

async function verifyKept(ageInWeeks: number): Promise<void> {
  for (const history of HISTORIES) {
    expect(await agesOf(history)).toEqual(Array.from({ length: ageInWeeks + 1 }, (_, age) => age));
  }
}

async function queueOld(ageInWeeks: number, isResend: boolean): Promise<string> {
  const id = newId();
  await admin.query(sql`
    insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, is_resend)
    select case when ${isResend} then ${id}::uuid else old.id end, old.id, old.id, old.id, false, ${isResend}
    from (
      select uuid_v7_floor(date_trunc('week', now(), 'UTC') - ${ageInWeeks} * interval '1 week') as id
    ) as old`);
  return id;
}

/** A retry of a delivery whose event happened then, in the lane of an endpoint or of URLs. */
async function queueAt(db: Database, { id: laneId }: { id: string }, ms: number): Promise<string> {
  const id = idAt(ms);
  await db.query(sql`
    with stored as (
      insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id)
      values (${id}, ${id}, ${laneId}, ${newId()}, ${newId()}, 'charge.pix.paid', ${laneId}, ${laneId})
    )
    insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, rank, attempt_count)
    values (${id}, ${id}, ${id}, ${laneId}, ${laneId}, false, 1, 1)`);
  return id;
}

function startOfWeek(ms: number): number {
  return ms - ((ms - FIRST_WEEK_MS) % WEEK_MS);
}

describe('the retention', () => {
  test('leaves a re-send that waits, with everything younger', async () => {
    await queueOld(25, true);
    await enforce(database.db, KEEP_DAYS);
    await verifyKept(25);
    await admin.query(sql`delete from queue`);
  });

  test('leaves a retry that is locked, with everything younger', async () => {
    await queueOld(25, false);
    await admin.transaction(async (tx) => {
      await tx.query(sql`select from queue for update`);
      await enforce(database.db, KEEP_DAYS);
    });
    await verifyKept(25);
    await admin.query(sql`delete from queue`);
  });

  test('ends what has waited for a disabled endpoint for longer than deliveries are kept, so that weeks are dropped', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    await using owner = await asOwner(own);
    await growOldWeeks(owner, 20);
    const [paused, active] = [
      await storeEndpoint(own.db, { active: false }),
      await storeEndpoint(own.db),
    ];
    const inactive = await storeEndpoint(own.db);
    await own.db.query(
      sql`update endpoints set application_inactive_since = now() where id = ${inactive.id}`,
    );
    const cutoffMs = Date.now() - KEEP_DAYS * DAY_MS;
    // Of a week that is not old as a whole, and is not dropped yet.
    const kept = await queueAt(own.db, paused, startOfWeek(cutoffMs));
    const dropped = [
      await queueAt(own.db, paused, cutoffMs - 3 * WEEK_MS),
      await queueAt(own.db, inactive, cutoffMs - 4 * WEEK_MS),
    ];
    const young = [
      await queueAt(own.db, paused, cutoffMs + DAY_MS),
      await queueAt(own.db, active, cutoffMs + DAY_MS),
    ];
    expect(await enforce(own.db, KEEP_DAYS)).toBeGreaterThan(0);
    expect(await statusesOf(own.db, [kept, ...dropped, ...young])).toEqual([
      'skipped',
      'none',
      'none',
      'pending',
      'pending',
    ]);
    const left = await own.db.query<{ id: string }>(sql`select id from queue`);
    expect(left.map(({ id }) => id).toSorted()).toEqual(young.toSorted());
  });

  test('ends as failed what has waited for any other destination for as long, and leaves the lane of a deleted endpoint', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    await using owner = await asOwner(own);
    await growOldWeeks(owner, 20);
    const active = await storeEndpoint(own.db);
    const deleted = await storeEndpoint(own.db, { deletedAt: new Date() });
    const lanes = [active, { id: newId() }];
    const cutoffMs = Date.now() - KEEP_DAYS * DAY_MS;
    // Of a week that is not old as a whole, and is not dropped yet. Then of one that is.
    const kept = await Promise.all(
      lanes.map((lane) => queueAt(own.db, lane, startOfWeek(cutoffMs))),
    );
    const dropped = await queueAt(own.db, active, cutoffMs - 3 * WEEK_MS);
    const young = await queueAt(own.db, active, cutoffMs + DAY_MS);
    const canceledElsewhere = await queueAt(own.db, deleted, startOfWeek(cutoffMs));
    expect(await enforce(own.db, KEEP_DAYS)).toBeGreaterThan(0);
    const all = [...kept, dropped, young, canceledElsewhere];
    const statuses = ['failed', 'failed', 'none', 'pending', 'pending'];
    expect(await statusesOf(own.db, all)).toEqual(statuses);
    const left = await own.db.query<{ id: string }>(sql`select id from queue`);
    expect(left.map(({ id }) => id).toSorted()).toEqual([young, canceledElsewhere].toSorted());
  });

  test('drops the weeks of all three that are old as a whole, and nothing else', async () => {
    expect(await enforce(database.db, KEEP_DAYS)).toBeGreaterThan(0);
    const [kept, ...others] = await Promise.all(HISTORIES.map(agesOf));
    for (const other of others) expect(other).toEqual(kept);
    // A week stays as long as one of its rows may be younger than 90 days: 12 whole ones, and those that are cut.
    expect(kept?.length).toBeGreaterThanOrEqual(13);
    expect(kept?.length).toBeLessThanOrEqual(14);
    expect(await enforce(database.db, KEEP_DAYS)).toBe(0);
  });

  test('leaves the work to the process that holds the lease', async () => {
    await admin.transaction(async (tx) => {
      await tx.query(sql`select from leases where name = 'retention' for update`);
      expect(await enforce(database.db, 60)).toBe(0);
    });
    expect(await enforce(database.db, 60)).toBeGreaterThan(0);
  });

  test('gives way when it would have to wait for long, and is done by the next try', async () => {
    await admin.transaction(async (tx) => {
      await tx.query(sql`lock table deliveries in access share mode`);
      await expect(enforce(database.db, 45)).rejects.toMatchObject({
        code: 'DEPENDENCY_UNAVAILABLE',
      });
    });
    // A refusal is answered a moment before the lease behind it is free again.
    await eventually(async () => expect(await enforce(database.db, 45)).toBeGreaterThan(0));
  });

  test('is enforced by the job at the start of each process, by one at a time', async () => {
    const before = (await partitionsOf(admin, 'deliveries')).length;
    const jobs = [1, 2, 3].map(() =>
      startHistoryRetention({ db: database.db, logger, keepDays: 30 }),
    );
    await Promise.all(jobs.map((job) => job[Symbol.asyncDispose]()));
    expect((await partitionsOf(admin, 'deliveries')).length).toBeLessThan(before);
  });

  test('cannot be used to wipe what must be re-sendable', async () => {
    for (const days of [29, 0, -1]) {
      // Without the lease: that of a refused try may not be given back yet when the next one asks.
      const wiping = database.db.query(sql`select drop_old_history_partitions(${days})`);
      await expect(wiping).rejects.toMatchObject({ code: '23514' });
    }
  });
});

describe('partitions', () => {
  test('are ready for the weeks to come, out of the role’s own reach', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    await using owner = await asOwner(own);
    for (const history of HISTORIES) {
      const partitions = await partitionsOf(owner, history);
      expect(partitions.length).toBeGreaterThanOrEqual(9);
      const rights = await owner.query<{ right: boolean }>(sql`
        select has_table_privilege(
          'pixmesh_webhook_dispatcher', partition, 'select, insert, update, delete, truncate'
        ) as right
        from history_partitions(${history}::regclass)`);
      expect(rights.filter(({ right }) => right)).toEqual([]);
    }
  });

  test('are made also while what has waited for long cannot be ended', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    await using owner = await asOwner(own);
    await owner.query(sql`revoke select on queue from pixmesh_webhook_dispatcher`);
    await expect(enforce(own.db, KEEP_DAYS)).rejects.toMatchObject({ code: '42501' });
    for (const history of HISTORIES) {
      expect((await partitionsOf(owner, history)).length).toBeGreaterThan(50);
    }
  });

  test('are measured for each history: for how long its rows still find one', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    await using owner = await asOwner(own);
    await startTelemetry('webhook-dispatcher', {});
    await startHistoryRetention({ db: own.db, logger, keepDays: KEEP_DAYS })[Symbol.asyncDispose]();
    await owner.query(sql`
      do $$
      declare
        week regclass;
      begin
        for week in
          select partition from history_partitions('deliveries'::regclass) order by upper_bound desc limit 48
        loop
          execute format('drop table %s', week);
        end loop;
      end
      $$`);
    const weeks = await weeksAhead();
    await stopTelemetry();
    expect(weeks).toEqual({ attempts: 52, deliveries: 4, events: 52 });
  });

  test('follow one upon the other without a gap, also after weeks in which none was made', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    await using owner = await asOwner(own);
    // As if nothing had been made since the first partition ended, long ago.
    await owner.query(sql`
      do $$
      declare
        part regclass;
        parent text;
      begin
        foreach parent in array array['events', 'deliveries', 'attempts'] loop
          for part in select partition from history_partitions(parent::regclass) loop
            execute format('drop table %s', part);
          end loop;
          execute format(
            'create table if not exists %I partition of %I for values from (minvalue) to (%L)',
            parent || '_first', parent, uuid_v7_floor(date_trunc('week', now(), 'UTC') - interval '5 weeks')
          );
        end loop;
      end
      $$`);
    await enforce(own.db, KEEP_DAYS);
    await enforce(own.db, KEEP_DAYS);
    const gaps = await owner.query(sql`
      with bound as (
        select inhparent, pg_get_expr(relpartbound, pg_class.oid) as text
        from pg_inherits
        join pg_class on pg_class.oid = inhrelid
        where inhparent = any (array['events', 'deliveries', 'attempts']::regclass[])
      )
      select text from bound
      where text not like '%MINVALUE%'
        and not exists (
          select from bound as before
          where before.inhparent = bound.inhparent
            and substring(before.text from 'TO \\((.*)\\)') = substring(bound.text from 'FROM \\((.*)\\) TO')
        )`);
    expect(gaps).toEqual([]);
    const attemptId = newId();
    await own.db.query(sql`
      insert into attempts (delivery_id, id, started_at, duration_ms, outcome)
      select id, ${attemptId}, now(), 1, 'failed'
      from generate_series(-6, 7) as weeks,
        lateral (select uuid_v7_floor(now() + weeks * interval '1 week') as id) as delivery`);
  });
});

test('what was set aside for as long as events are kept is ended and logged, and nothing younger', async () => {
  const [old, young] = [idAt(Date.now() - (KEEP_DAYS + 1) * DAY_MS), idAt(Date.now() - DAY_MS)];
  const [poor, well] = [newId(), newId()];
  const setAside = async (accountId: string, eventId: string): Promise<void> => {
    await database.db.query(sql`
      insert into set_aside_events (
        account_id, event_id, type, resource_id, source, sequence, occurred_at, has_own_url, body_rest
      )
      values (${accountId}, ${eventId}, 'charge.pix.created', ${newId()}, 'api', 1, now(), false, '')`);
  };
  const others = Array.from({ length: 30 }, () => newId());
  for (const accountId of [poor, ...others]) await setAside(accountId, old);
  await setAside(poor, idAt(Date.now() - (KEEP_DAYS + 2) * DAY_MS));
  await setAside(well, young);
  const lines: string[] = [];
  await enforce(database.db, KEEP_DAYS, lines);
  const left = await database.db.query(sql`select event_id as id from set_aside_events`);
  expect(left).toEqual([{ id: young }]);
  const errors = lines.map((line) => JSON.parse(line) as { account_ids: string[] });
  expect(errors).toMatchObject([{ level: 50, events: 32, keep_days: KEEP_DAYS }]);
  expect(errors[0]!.account_ids).toHaveLength(20);
  expect([poor, ...others]).toEqual(expect.arrayContaining(errors[0]!.account_ids));
  await enforce(database.db, KEEP_DAYS, lines);
  expect(lines).toHaveLength(1);
});
