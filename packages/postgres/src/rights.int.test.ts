import { createMeshDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ensureEventPartitions } from './partition-upkeep.ts';
import { createPool, type Database } from './pool.ts';
import { sql, type Statement } from './sql.ts';

/** SQLSTATE insufficient_privilege. */
const REFUSED = { code: '42501' };

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createMeshDatabase('charges');
  admin = createPool({ url: database.adminUrl, applicationName: 'rights-test', max: 2 });
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe('the role of a service', () => {
  const forbidden: [string, Statement][] = [
    ['read another schema', sql`select from ledger.events`],
    [
      'write to another schema',
      sql`insert into ledger.outbox (event_id) values (gen_random_uuid())`,
    ],
    ['change history', sql`update events set key = 'x'`],
    ['delete history', sql`delete from events`],
    ['truncate history', sql`truncate events`],
    ['change a queued id', sql`update outbox set event_id = event_id`],
    ['invent a lease', sql`insert into leases values ('mine')`],
    ['delete a lease', sql`delete from leases`],
    ['create a table', sql`create table charges.mine (id int)`],
    ['create a table in public', sql`create table public.mine (id int)`],
    ['create a schema', sql`create schema mine`],
    ['create a role', sql`create role mine`],
    ['drop a table', sql`drop table outbox`],
    ['rewrite what has been migrated', sql`delete from migrations`],
    ['become another role', sql`set role pixmesh_ledger`],
  ];

  test.each(forbidden)('cannot %s', async (_what, statement) => {
    await expect(database.db.query(statement)).rejects.toMatchObject(REFUSED);
  });

  test('cannot reach history through a partition by its own name', async () => {
    const partitions = await admin.query<{ name: string }>(
      sql`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'charges.events'::regclass`,
    );
    const rights = await admin.query<{ right: boolean }>(
      sql`
        select has_table_privilege('pixmesh_charges', name, 'insert, update, delete, truncate, select') as right
        from unnest(${partitions.map(({ name }) => name)}::text[]) as name`,
    );
    expect(partitions.length).toBeGreaterThan(12);
    expect(rights.filter(({ right }) => right)).toEqual([]);
  });

  test('owns nothing, and is neither superuser nor allowed to create', async () => {
    const [role] = await admin.query(
      sql`
        select rolsuper, rolcreatedb, rolcreaterole, rolbypassrls,
               (select count(*)::int from pg_class where relowner = pg_roles.oid) as owned
        from pg_roles where rolname = 'pixmesh_charges'`,
    );
    expect(role).toEqual({
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolbypassrls: false,
      owned: 0,
    });
  });
});

describe('partitions of events', () => {
  test('cover every instant from last month to twelve months from now, without a gap', async () => {
    // The month may have turned since the database was made.
    await ensureEventPartitions(database.db);
    const uncovered = await admin.query(
      sql`
        select day
        from generate_series(now() - interval '1 month', now() + interval '12 months', interval '1 day') as day
        where not exists (
          select from pg_class
          join pg_inherits on inhrelid = pg_class.oid
          where inhparent = 'charges.events'::regclass
            and relname = 'events_' || to_char(day at time zone 'UTC', 'YYYYMM')
        )`,
    );
    expect(uncovered).toEqual([]);
  });

  test('take an id of the first and of the last millisecond of a month', async () => {
    const places = await admin.query<{ place: string }>(
      sql`
        with moments as (
          select date_trunc('month', now(), 'UTC') + step as moment
          from unnest(array['0 ms', '-1 ms']::interval[]) as step
        ), stored as (
          insert into charges.events (event_id, topic, key, type, message)
          select (left(charges.uuid_v7_floor(moment)::text, 24) || 'ffffffffffff')::uuid, 't', 'k', 'x', '{}'
          from moments
          returning tableoid::regclass::text as place, event_id
        )
        select place from stored order by event_id`,
    );
    const [before, after] = places.map(({ place }) => place.slice(-6));
    expect(Number(after) - Number(before)).toBeOneOf([1, 89]);
  });

  test('are created by the service itself, as often as it likes, also at once', async () => {
    const count = async () =>
      (await admin.query(sql`select from pg_inherits where inhparent = 'charges.events'::regclass`))
        .length;
    await admin.query(sql`select set_config('search_path', 'charges', false)`);
    // The month may have turned since the database was made.
    await ensureEventPartitions(database.db);
    const before = await count();
    await Promise.all(Array.from({ length: 4 }, () => ensureEventPartitions(database.db)));
    expect(await count()).toBe(before);
    const further = sql`select ensure_event_partitions(15)`;
    await Promise.all([database.db.query(further), database.db.query(further)]);
    expect(await count()).toBe(before + 3);
  });

  test('begin with a month of UTC, whatever the time zone of the session', async () => {
    await database.db.transaction(async (tx) => {
      await tx.query(sql`set local timezone to 'America/Sao_Paulo'`);
      await tx.query(sql`select ensure_event_partitions(18)`);
    });
    const bounds = await admin.query<{ name: string; lower: string }>(
      sql`
        select relname as name,
               to_char(uuid_extract_timestamp(substring(pg_get_expr(relpartbound, oid) from '''([0-9a-f-]+)''')::uuid)
                 at time zone 'UTC', 'YYYYMM DD HH24:MI:SS.MS') as lower
        from pg_class where relispartition and relkind = 'r' and relnamespace = 'charges'::regnamespace`,
    );
    for (const { name, lower } of bounds) {
      expect(lower).toBe(`${name.replace('events_', '')} 01 00:00:00.000`);
    }
  });
});
