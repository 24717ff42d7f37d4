import type { ChargeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createAccountsBehind } from '#intake/accounts-behind.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { idAt } from '#test/queued-deliveries.ts';
import { take } from '#test/store-event.ts';
import { watchDatabase } from '#test/watch-database.ts';

import {
  deleteUnusedDestinations,
  deleteUnusedStatement,
} from './delete-unused-destinations.sql.ts';
import { startHistoryRetention } from './enforce-retention.job.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEEP_DAYS = 90;
/** So long that a page has four rows, and so short that they are stored in it. */
const LONG_URL = `https://shop.example.com/${'a'.repeat(1_880)}`;
const logger = createLogger('test', 'silent');
const { publicKey } = generateSealingKeyPair('v1');

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  ({ db } = database);
});
afterEach(() => database[Symbol.asyncDispose]());

/** Destinations that were used so many days ago; answers the resource of the last one. */
async function storeUsed(daysAgo: number, { count = 1, url = LONG_URL } = {}): Promise<string> {
  const rows = await db.query<{ id: string }>(sql`
    insert into destinations (resource_id, account_id, url, used_at)
    select gen_random_uuid(), gen_random_uuid(), ${url}, now() - ${daysAgo} * interval '1 day'
    from generate_series(1, ${count}::int)
    returning resource_id as id`);
  return rows.at(-1)!.id;
}

/** An event whose destination was used so many days ago, and a later one of the same charge. */
async function storeOldCharge(daysAgo: number): Promise<{ old: ChargeEvent; late: ChargeEvent }> {
  const account_id = newId();
  const secret = { clear: 'whsec_of_the_charge', publicKey };
  const old = aChargeEvent({ account_id, secret });
  await take(db, old);
  await db.query(sql`update destinations set used_at = now() - ${daysAgo} * interval '1 day'`);
  const charge = { id: old.data.id };
  const late = aChargeEvent({ account_id, secret, charge, type: 'charge.pix.paid', sequence: 2 });
  return { old, late };
}

async function deleteUnused(of: Queryable = db): Promise<void> {
  let page: number | null = 0;
  while (page !== null) page = await deleteUnusedDestinations(of, page);
}

async function resourcesLeft(): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select resource_id as id from destinations order by used_at`);
  return rows.map(({ id }) => id);
}

/** Of the only charge, as a message has it. */
async function readDestination(): Promise<unknown> {
  const rows = await db.query(sql`select url, sealed_secret from destinations`);
  return rows.length === 1 ? rows[0] : null;
}

async function forgetHistory(): Promise<void> {
  const owner = createPool({ url: database.adminUrl, applicationName: 'unused-test', max: 1 });
  await owner.query(sql`truncate webhook_dispatcher.deliveries, webhook_dispatcher.queue`);
  await owner[Symbol.asyncDispose]();
}

describe('a destination', () => {
  test('is deleted when nothing has named it for 120 days, and not before', async () => {
    await storeUsed(1_000);
    await storeUsed(121);
    const kept = [await storeUsed(119), await storeUsed(0)];
    await deleteUnused();
    expect(await resourcesLeft()).toEqual(kept);
  });

  test('is kept for as long as a delivery may name it', async () => {
    const oldest = aChargeEvent({ event_id: idAt(Date.now() - 200 * DAY_MS) });
    await take(db, oldest);
    await db.query(sql`update destinations set used_at = now() - interval '199 days'`);
    await storeUsed(232);
    const kept = await storeUsed(230);
    await deleteUnused();
    expect(await resourcesLeft()).toEqual([kept, oldest.data.id]);
    await forgetHistory();
    await deleteUnused();
    expect(await resourcesLeft()).toEqual([]);
  });

  test('is kept for as long as an event that is set aside may name it', async () => {
    const resourceId = await storeUsed(199);
    await db.query(sql`
      insert into set_aside_events (
        account_id, event_id, type, resource_id, source, sequence, occurred_at, has_own_url, body_rest
      )
      values (
        ${newId()}, ${idAt(Date.now() - 200 * DAY_MS)}, 'charge.pix.paid', ${resourceId}, 'api', 2, now(), true, ''
      )`);
    await deleteUnused();
    expect(await resourcesLeft()).toEqual([resourceId]);
    await db.query(sql`delete from set_aside_events`);
    await deleteUnused();
    expect(await resourcesLeft()).toEqual([]);
  });

  test.each(['stored', 'set aside'])('is used again by a late event that is %s', async (how) => {
    const { old, late } = await storeOldCharge(150);
    await forgetHistory();
    const behind = createAccountsBehind({ notify: () => undefined });
    behind.note(late.account_id!, how === 'set aside');
    await take(db, late, { behind });
    const waiting = await db.query(sql`select from set_aside_events`);
    expect(waiting).toHaveLength(how === 'set aside' ? 1 : 0);
    await db.query(sql`delete from set_aside_events`);
    await forgetHistory();
    await deleteUnused();
    expect(await readDestination()).toEqual(old.destination);
  });

  test('is not written by events within 30 days of its last use', async () => {
    const { late } = await storeOldCharge(29);
    const read = () => db.query(sql`select ctid::text, xmin::text, xmax::text from destinations`);
    const before = await read();
    await take(db, late);
    expect(await read()).toEqual(before);
  });

  test('that another transaction has locked is left to the next time', async () => {
    const locked = await storeUsed(122);
    await storeUsed(121);
    await database.db.transaction(async (tx) => {
      await tx.query(sql`select from destinations where resource_id = ${locked} for no key update`);
      await deleteUnused();
    });
    expect(await resourcesLeft()).toEqual([locked]);
    await deleteUnused();
    expect(await resourcesLeft()).toEqual([]);
  });
});

describe('an event whose old destination is being deleted', () => {
  test('keeps it where it is stored first, and not yet committed', async () => {
    const { old, late } = await storeOldCharge(150);
    await forgetHistory();
    const names: string[] = [];
    const watched = watchDatabase(db, async (name) => {
      names.push(name);
      // The last statement of the transaction.
      if (name === 'lanes_wake') await deleteUnused();
    });
    await take(watched, late);
    expect(names.slice(-2)).toEqual(['events_insert', 'lanes_wake']);
    expect(await readDestination()).toEqual(old.destination);
  });

  test('waits where the deletion is first, and stores its own', async () => {
    const { old, late } = await storeOldCharge(150);
    await forgetHistory();
    let taken = Promise.resolve();
    await db.transaction(async (tx) => {
      await deleteUnused(tx);
      taken = take(db, late);
      await eventually(async () => expect(await countLockWaits(db)).toBe(1));
    });
    await taken;
    expect(late.destination).not.toEqual(old.destination);
    expect(await readDestination()).toEqual(late.destination);
  });
});

describe('the table of destinations', () => {
  test('is read in bounded parts, one a turn', async () => {
    await storeUsed(121, { count: 26_000 });
    const second = await deleteUnusedDestinations(db, 0);
    const left = (await resourcesLeft()).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1_000);
    expect(await deleteUnusedDestinations(db, second!)).toBeNull();
    expect(await resourcesLeft()).toEqual([]);
  });

  test('is read by its pages', async () => {
    const { scans, text } = await genericPlan(db, deleteUnusedStatement(0, new Date()));
    expect(scans).toEqual([]);
    expect(text).toContain('Tid Range Scan on destinations');
  });

  test('is gone through by the process that has dropped weeks, and by no other', async () => {
    await using owner = createPool({
      url: database.adminUrl,
      applicationName: 'unused-test',
      max: 1,
    });
    await owner.query(sql`select set_config('search_path', 'webhook_dispatcher', false)`);
    await storeUsed(500);
    const start = () => startHistoryRetention({ db, logger, keepDays: KEEP_DAYS });
    await start()[Symbol.asyncDispose]();
    expect(await resourcesLeft()).toHaveLength(1);
    await owner.query(sql`
      do $$
      begin
        drop table deliveries_first;
        execute format(
          'create table deliveries_old partition of deliveries for values from (%L) to (%L)',
          uuid_v7_floor(now() - interval '200 days'), uuid_v7_floor(now() - interval '190 days')
        );
      end
      $$`);
    await start()[Symbol.asyncDispose]();
    expect(await resourcesLeft()).toEqual([]);
  });
});
