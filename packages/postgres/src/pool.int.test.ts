import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { runForAccount } from '@pixmesh/fair-share/current-account';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createPool, type Database, type Transaction } from './pool.ts';
import { named, sql } from './sql.ts';

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  admin = createPool({ url: database.adminUrl, applicationName: 'pool-test', max: 3 });
  await admin.query(sql`create table charges.counters (id int primary key, value bigint not null)`);
  await admin.query(sql`grant all on charges.counters to pixmesh_charges`);
  await admin.query(sql`insert into charges.counters values (1, 0), (2, 0)`);
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('bigint columns are bigints in both directions', async () => {
  const large = 9_007_199_254_740_993n;
  const rows = await database.db.query<{ value: bigint; count: bigint }>(
    sql`select ${large}::bigint as value, count(*) as count from counters`,
  );
  expect(rows).toEqual([{ value: large, count: 2n }]);
});

test('a failed transaction leaves nothing behind', async () => {
  const work = database.db.transaction(async (tx) => {
    await tx.query(sql`insert into counters values (3, 0)`);
    throw new Error('after all, no');
  });
  await expect(work).rejects.toThrow('after all, no');
  expect(await database.db.query(sql`select from counters where id = 3`)).toEqual([]);
});

test('the reads of a snapshot see the database as it was at the first of them, and cannot write', async () => {
  await admin.query(sql`insert into charges.counters values (4, 0)`);
  const read = sql`select value from counters where id = 4`;
  await database.db.snapshot(async (snapshot) => {
    const before = await snapshot.query(read);
    await admin.query(sql`update charges.counters set value = value + 1 where id = 4`);
    expect(await snapshot.query(read)).toEqual(before);
    expect(await database.db.query(read)).not.toEqual(before);
  });
  const write = database.db.snapshot((snapshot) =>
    snapshot.query(sql`update counters set value = 0 where id = 4`),
  );
  await expect(write).rejects.toMatchObject({ cause: { code: '25006' } });
});

test('two transactions that lock each other out both succeed', async () => {
  const bothHold = barrier(2);
  await Promise.all([incrementBoth(1, 2), incrementBoth(2, 1)]);
  const rows = await database.db.query<{ value: bigint }>(
    sql`select value from counters where id in (1, 2)`,
  );
  expect(rows).toEqual([{ value: 2n }, { value: 2n }]);

  async function incrementBoth(first: number, second: number): Promise<void> {
    let tries = 0;
    await database.db.transaction(async (tx) => {
      tries += 1;
      await increment(tx, first);
      if (tries === 1) await bothHold();
      await increment(tx, second);
    });
  }
});

test('a killed session is an absent database, and the next statement gets a new session', async () => {
  await using db = createPool({ url: database.url, applicationName: 'victim', max: 1 });
  const [error] = await Promise.all([
    db.query(sql`select pg_sleep(30)`).catch((failure: unknown) => failure),
    killSessions('victim'),
  ]);
  expect(error).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  expect(await db.query(sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

test('a session killed inside a transaction is not used again', async () => {
  await using db = createPool({ url: database.url, applicationName: 'victim-in-tx', max: 1 });
  const work = db.transaction(async (tx) => {
    await increment(tx, 1);
    await killSessions('victim-in-tx');
    await increment(tx, 2);
  });
  await expect(work).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  expect(await db.transaction((tx) => tx.query(sql`select 1 as one`))).toEqual([{ one: 1 }]);
});

test('a port without a server is an absent database', async () => {
  await using db = createPool({ url: await unusedUrl(), applicationName: 'nobody' });
  await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  await expect(db.transaction(async () => 1)).rejects.toMatchObject({
    code: 'DEPENDENCY_UNAVAILABLE',
  });
});

test('a server that takes the connection and says nothing is an absent database', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = withPort(database.url, (silent.address() as AddressInfo).port);
  await using db = createPool({ url, applicationName: 'silent' });
  await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test('a connection that does not open in time is given up for another', async () => {
  const { hostname: host, port } = new URL(database.url);
  let arrived = 0;
  const sockets: Socket[] = [];
  const proxy = createServer((socket) => {
    arrived += 1;
    sockets.push(socket);
    if (arrived > 1) socket.pipe(connect(Number(port), host)).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = withPort(database.url, (proxy.address() as AddressInfo).port);
  await using db = createPool({ url, applicationName: 'slow-to-open' });
  expect(await db.query(sql`select 1 as one`)).toEqual([{ one: 1 }]);
  expect(await db.transaction((tx) => tx.query(sql`select 2 as two`))).toEqual([{ two: 2 }]);
  for (const socket of sockets) socket.destroy();
  proxy.close();
});

test('a wrong statement is a bug, not an outage', async () => {
  await expect(database.db.query(sql`select nothing from nowhere`)).rejects.toMatchObject({
    code: '42P01',
  });
});

test('a named statement is prepared once and takes other values', async () => {
  const find = (id: number) =>
    admin.query(named('counter_find', sql`select id from charges.counters where id = ${id}`));
  expect(await find(1)).toEqual([{ id: 1 }]);
  expect(await find(2)).toEqual([{ id: 2 }]);
});

async function increment(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql`update counters set value = value + 1 where id = ${id}`);
}

async function killSessions(applicationName: string): Promise<void> {
  await expect
    .poll(async () => {
      const killed = await admin.query(
        sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${applicationName}`,
      );
      return killed.length;
    })
    .toBeGreaterThan(0);
}

/** Resolves for everybody once `count` have arrived. */
function barrier(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let arrived = 0;
  return async () => {
    arrived += 1;
    if (arrived === count) all.resolve();
    await all.promise;
  };
}

async function unusedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return withPort(database.url, port);
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

test('connections are handed out in turns: hundreds of statements of one account do not delay another', async () => {
  await using pool = createPool({ url: database.adminUrl, applicationName: 'turns', max: 2 });
  const ended: string[] = [];
  const pause = (account: string) =>
    runForAccount(account, async () => {
      await pool.query(sql`select pg_sleep(0.001)`);
      ended.push(account);
    });
  const flood = Array.from({ length: 300 }, () => pause('flood'));
  const other = [pause('other'), pause('other')];
  await Promise.all([...flood, ...other]);
  // Two statements were under way; then one of each account in turn.
  expect(ended.lastIndexOf('other')).toBeLessThan(10);
});

test('a statement that has no turn in time is one that the database did not take', async () => {
  await using pool = createPool({ url: database.adminUrl, applicationName: 'late', max: 1 });
  const held = pool.query(sql`select pg_sleep(4)`);
  await expect(pool.query(sql`select 1`)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  await held;
});
