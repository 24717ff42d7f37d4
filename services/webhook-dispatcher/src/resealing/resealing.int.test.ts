import { generateSealingKeyPair, openSecret, sealSecret } from '@pixmesh/kernel/sealed-secret';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { genericPlan } from '#test/generic-plan.ts';
import { mergedKeys, readSealed, type SealedRow, storeSealed } from '#test/sealed-rows.ts';

import { RESEAL_BATCH, resealBatch, type ResealDeps } from './reseal-secrets.ts';
import { type Resealing, startResealing } from './resealing.job.ts';
import {
  takeResealingLease,
  otherVersionsStatement,
  replaceSealed,
  replaceStatement,
  SEALED_TABLES,
  sealedToStatement,
} from './sealed-secrets.sql.ts';
import { readSealingRing } from './sealing-ring.ts';

const OLD = generateSealingKeyPair('v9');
const NEW = generateSealingKeyPair('v10');
const BOTH = mergedKeys(OLD, NEW);
/** More than two batches. */
const MANY = 2 * RESEAL_BATCH + 1;
const logger = createLogger('test', 'silent');

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterEach(() => database[Symbol.asyncDispose]());

function start(privateKeys = BOTH, idleMs?: number): Resealing {
  const { db } = database;
  const options = { db, logger, privateKeys, startDelayMs: 0 };
  return startResealing(idleMs === undefined ? options : { ...options, idleMs });
}

function deps(db: Database = database.db): ResealDeps {
  const unreadable = { endpoints: new Set<string>(), destinations: new Set<string>() };
  return { db, logger, ring: readSealingRing(BOTH), unreadable };
}

/** Asserts that one key alone opens all of them. */
async function expectSealedTo(key: { privateKeys: string }, rows: SealedRow[]): Promise<void> {
  const stored = await readSealed(database.db, rows);
  const opened = stored.map((sealed, index) =>
    openSecret(key.privateKeys, sealed, rows[index]!.context),
  );
  expect(opened).toEqual(rows.map(({ clear }) => clear));
}

async function untilDone(resealing: Resealing): Promise<void> {
  await eventually(() => {
    const counts = resealing.oldSecrets().map(({ count }) => count);
    expect(counts).toEqual([0, 0, 0, 0]);
  }, 30_000);
}

describe('a rotation of the sealing key', () => {
  test('re-wraps every secret, of deleted endpoints too, so that the old key may be dropped', async () => {
    const { db } = database;
    const rows: SealedRow[] = [];
    for (const table of SEALED_TABLES) {
      rows.push(...(await storeSealed(db, { table, key: OLD, count: MANY })));
      rows.push(...(await storeSealed(db, { table, key: NEW, count: 1 })));
    }
    await using resealing = start();
    await untilDone(resealing);
    await expectSealedTo(NEW, rows);
  });

  test('goes on where one that ended in between stopped', async () => {
    const rows = await storeSealed(database.db, { table: 'destinations', key: OLD, count: MANY });
    expect(await resealBatch(deps(), 'destinations', 'v9')).toBe(RESEAL_BATCH);
    // Dies over its second batch: the connection ends before the commit.
    const doomed = createPool({ url: database.url, applicationName: 'doomed', max: 1 });
    const dying = doomed.transaction(async (tx) => {
      const inner: Database = { ...doomed, transaction: async (work) => await work(tx) };
      expect(await resealBatch(deps(inner), 'destinations', 'v9')).toBe(RESEAL_BATCH);
      throw new Error('died');
    });
    await expect(dying).rejects.toThrow('died');
    await doomed[Symbol.asyncDispose]();
    const versions = (await readSealed(database.db, rows)).map((text) => text.split('.')[2]);
    expect(versions.filter((version) => version === 'v9')).toHaveLength(MANY - RESEAL_BATCH);
    await using resealing = start();
    await untilDone(resealing);
    await expectSealedTo(NEW, rows);
  });

  test('finds what is sealed to the old key later on', async () => {
    await using resealing = start(BOTH, 20);
    await untilDone(resealing);
    const rows = await storeSealed(database.db, { table: 'destinations', key: OLD, count: 2 });
    await eventually(() => expectSealedTo(NEW, rows));
  });

  test('is the work of one process at a time', async () => {
    await storeSealed(database.db, { table: 'endpoints', key: OLD, count: 1 });
    await database.db.transaction(async (tx) => {
      expect(await takeResealingLease(tx)).toBe(true);
      expect(await resealBatch(deps(), 'endpoints', 'v9')).toBe(0);
    });
    expect(await resealBatch(deps(), 'endpoints', 'v9')).toBe(1);
  });

  test('never overwrites a secret that was changed meanwhile', async () => {
    const [row] = await storeSealed(database.db, { table: 'endpoints', key: OLD, count: 1 });
    const { ownerId, context } = row!;
    const [from] = await readSealed(database.db, [row!]);
    const changed = sealSecret(OLD.publicKey, 'changed meanwhile', context);
    await database.db.query(
      sql`update endpoints set sealed_secret = ${changed} where id = ${ownerId}`,
    );
    const to = sealSecret(NEW.publicKey, row!.clear, context);
    const resealed = [{ ownerId, from: from!, to }];
    const count = await database.db.transaction(
      async (tx) => await replaceSealed(tx, 'endpoints', resealed),
    );
    expect(count).toBe(0);
    expect(await readSealed(database.db, [row!])).toEqual([changed]);
    await using resealing = start();
    await untilDone(resealing);
    await expectSealedTo(NEW, [{ ...row!, clear: 'changed meanwhile' }]);
  });

  test('does not wait for a locked endpoint', async () => {
    const rows = await storeSealed(database.db, { table: 'endpoints', key: OLD, count: 2 });
    await database.db.transaction(async (tx) => {
      await tx.query(sql`select from endpoints where id = ${rows[0]!.ownerId} for no key update`);
      expect(await resealBatch(deps(), 'endpoints', 'v9')).toBe(1);
    });
    expect(await resealBatch(deps(), 'endpoints', 'v9')).toBe(1);
    await expectSealedTo(NEW, rows);
  });
});

describe('a secret that cannot be re-wrapped', () => {
  test('because it does not open is left, logged by its id, and delays no other', async () => {
    const { db } = database;
    const lines: string[] = [];
    const recording = createLogger('test', 'error', { write: (line: string) => lines.push(line) });
    const bad = await storeSealed(db, { table: 'destinations', key: OLD, count: MANY });
    await db.query(sql`update destinations set account_id = gen_random_uuid()`);
    const before = await readSealed(db, bad);
    const good = await storeSealed(db, { table: 'destinations', key: OLD, count: 3 });
    await using resealing = startResealing({
      db,
      logger: recording,
      privateKeys: BOTH,
      startDelayMs: 0,
    });
    await eventually(() => expectSealedTo(NEW, good), 30_000);
    await eventually(() => {
      expect(resealing.oldSecrets()).toContainEqual({
        table: 'destinations',
        version: 'v9',
        count: MANY,
      });
    });
    expect(await readSealed(db, bad)).toEqual(before);
    expect(lines).toHaveLength(MANY);
    for (const { ownerId } of bad) expect(lines.join()).toContain(ownerId);
    expect(lines.join()).not.toContain('sealed.v1');
  });

  test('because no process here holds its key, or it is newer, is counted and left', async () => {
    const { db } = database;
    const foreign = generateSealingKeyPair('a-stranger');
    const newer = generateSealingKeyPair('v11');
    const rows = [
      ...(await storeSealed(db, { table: 'endpoints', key: foreign, count: 2 })),
      ...(await storeSealed(db, { table: 'endpoints', key: newer, count: 1 })),
    ];
    const before = await readSealed(db, rows);
    await using resealing = start();
    await eventually(() => {
      expect(resealing.oldSecrets()).toEqual([
        { table: 'endpoints', version: 'v9', count: 0 },
        { table: 'endpoints', version: 'unknown', count: 3 },
        { table: 'destinations', version: 'v9', count: 0 },
        { table: 'destinations', version: 'unknown', count: 0 },
      ]);
    });
    expect(await readSealed(db, rows)).toEqual(before);
  });
});

describe('however many secrets are sealed to the newest key', () => {
  const ROWS = 30_000;
  const page = { version: 'v9', without: [], limit: RESEAL_BATCH };

  test.each(SEALED_TABLES)('a search for older ones reads next to nothing: %s', async (table) => {
    await fill();
    for (const statement of [
      otherVersionsStatement(table, 'v10'),
      sealedToStatement(table, page),
    ]) {
      const { name: _name, ...unnamed } = statement;
      const { scans, pagesRead } = await explainStatement(database.db, unnamed);
      expect(scans.join()).toMatch(new RegExp(`${table}_sealing_version`));
      expect(scans).not.toContain('Seq Scan');
      expect(pagesRead).toBeLessThan(30);
      await expectIndexed(statement);
    }
    await expectIndexed(replaceStatement(table, []));
  });

  test.each(SEALED_TABLES)(
    'also by a plan that was made while there were none: %s',
    async (table) => {
      await expectIndexed(otherVersionsStatement(table, 'v10'));
      await expectIndexed(sealedToStatement(table, page));
      await expectIndexed(replaceStatement(table, []));
    },
  );

  async function expectIndexed(statement: Statement): Promise<void> {
    expect((await genericPlan(database.db, statement)).scans).toEqual([]);
  }

  async function fill(): Promise<void> {
    await database.db.query(
      named(
        'fill_sealed',
        sql`
          with filled as (
            insert into endpoints (id, account_id, application_id, url, description, events, sealed_secret)
            select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'https://a.example.com/', '', '{}',
              'sealed.v1.v10.' || place
            from generate_series(1, ${ROWS}::int) as place
          )
          insert into destinations (resource_id, account_id, url, sealed_secret)
          select gen_random_uuid(), gen_random_uuid(), 'https://a.example.com/', 'sealed.v1.v10.' || place
          from generate_series(1, ${ROWS}::int) as place`,
      ),
    );
    const admin = createPool({ url: database.adminUrl, applicationName: 'plans', max: 1 });
    await admin.query(sql`analyze webhook_dispatcher.endpoints, webhook_dispatcher.destinations`);
    await admin[Symbol.asyncDispose]();
  }
});
