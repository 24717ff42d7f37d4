import {
  addListCursors,
  leaseListCursors,
  type ListCursor,
  listLags,
  releaseListCursor,
} from '@pixmesh/acquirer-lists/list-cursor.sql';
import { readList } from '@pixmesh/acquirer-lists/read-list';
import { listReturnContradictions } from '@pixmesh/acquirer-lists/return-contradictions.sql';
import type { PageOutcome, ReceivedPix, UnreadableItem } from '@pixmesh/acquirer/acquirer';
import { createPool } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';

import { receivedReadings, type ReceivedReadingsDeps } from './received-readings.ts';

const LEASE_MS = 60_000;
const INTERVAL_MS = 10_000;
const HOUR_MS = 3_600_000;
const LATE_RECEIVED = 'received.late';
const OVERLAP_MS = 900_000;

type Asked = { from: Date; to: Date; page: number };
type Page = PageOutcome<ReceivedPix>;

let database: TestDatabase;
let logLines: string[];
/** What the runs asked for. */
let asked: Asked[];
let answer: (asked: Asked) => Page | Promise<Page>;

beforeEach(async () => {
  database = await createTestDatabase('charges');
  logLines = [];
  asked = [];
  answer = () => aPage([], false);
  await addListCursors(database.db, ['received']);
  await database.db.query(sql`update acquirer_lists set listed_until = now() - interval '3 hours'`);
});
afterEach(() => database[Symbol.asyncDispose]());

function aPage(
  items: ReceivedPix[],
  hasMore: boolean,
  unreadable: UnreadableItem[] = [],
): Extract<Page, { kind: 'page' }> {
  return { kind: 'page', items, unreadable, hasMore };
}

function aListOf(pages: number): typeof answer {
  return ({ page }) => aPage([aReceivedPix({ endToEndId: `E${page}` })], page + 1 < pages);
}

async function lease(name = 'received'): Promise<ListCursor> {
  await database.db.query(sql`
    update acquirer_lists set check_at = now() - interval '1 second' where lease_until is null or lease_until <= now()`);
  const [cursor] = await leaseDue(name);
  if (!cursor) throw new Error('somebody else reads');
  return cursor;
}

async function leaseDue(name: string): Promise<ListCursor[]> {
  const readings = [{ name, intervalMs: INTERVAL_MS }];
  return await leaseListCursors(database.db, { readings, limit: 1, leaseMs: LEASE_MS });
}

async function run(cursor?: ListCursor, stopping = new AbortController().signal): Promise<void> {
  const deps: ReceivedReadingsDeps = {
    db: database.db,
    logger: createLogger('charges', 'warn', { write: (line) => void logLines.push(line) }),
    acquirer: {
      listReceived: async (window) => {
        asked.push(window);
        return await answer(window);
      },
    },
    pixKey: 'key',
    intervalMs: INTERVAL_MS,
    lateIntervalMs: 300_000,
    overlapMs: OVERLAP_MS,
    wakeStatusChecks: () => undefined,
    wakeNotices: () => undefined,
  };
  const leased = cursor ?? (await lease());
  const reading = receivedReadings(deps).find(({ name }) => name === leased.name);
  if (!reading) throw new Error(`${leased.name} is no reading`);
  await readList({ ...deps, leaseMs: LEASE_MS, stopping }, reading, leased);
}

/** Returns are append-only for the service itself. */
async function asOwner(statement: Statement): Promise<void> {
  const admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 1 });
  await admin.query(statement);
  await admin[Symbol.asyncDispose]();
}

async function hoursBehind(): Promise<number> {
  const [row] = await database.db.query<{ hours: number }>(sql`
    select round(extract(epoch from now() - listed_until) / 3600)::int as hours from acquirer_lists`);
  return row?.hours ?? -1;
}

async function noticed(): Promise<number> {
  return (await database.db.query(sql`select from pix_notices`)).length;
}

function pagesAsked(): number[] {
  return asked.map(({ page }) => page);
}

test('a window of more pages than one run reads is gone on with at once, and ends', async () => {
  answer = aListOf(450);
  await run();
  expect([asked.length, await hoursBehind()]).toEqual([200, 3]);
  const [row] = await database.db.query<{ is_due: boolean }>(
    sql`select check_at <= now() as is_due from acquirer_lists`,
  );
  expect(row?.is_due).toBe(true);
  await run();
  expect(await hoursBehind()).toBe(3);
  await run();
  expect(pagesAsked()).toEqual(Array.from({ length: 450 }, (_, page) => page));
  expect(new Set(asked.map(({ from, to }) => `${from.getTime()} ${to.getTime()}`)).size).toBe(1);
  expect([await hoursBehind(), await noticed()]).toEqual([0, 450]);
  answer = aListOf(1);
  await run();
  expect(asked.at(-1)?.page).toBe(0);
  // The first run’s time is where the next window begins, less the overlap.
  expect(asked.at(-1)?.from.getTime()).toBeGreaterThan(
    (asked[0]?.from.getTime() ?? 0) + 2 * 3_600_000,
  );
});

test.each([
  { name: 'received', overlapMs: 30_000 },
  { name: LATE_RECEIVED, overlapMs: OVERLAP_MS },
])('a run of $name reads nothing that is $overlapMs ms older than the run before', async (row) => {
  await addListCursors(database.db, [row.name]);
  const before = await lease(row.name);
  await run(before);
  await run(await lease(row.name));
  expect(asked[1]?.from).toEqual(new Date(before.readAt.getTime() - row.overlapMs));
});

test('once a clock that was ahead is set back, a list is behind, is due, and is read from where a walk has been', async () => {
  await database.db.query(sql`
    update acquirer_lists set listed_until = now() + interval '1 hour', check_at = now() + interval '5 seconds'`);
  const [lag] = await listLags(database.db);
  expect(lag?.seconds).toBeGreaterThan(3_000);
  const [cursor] = await leaseDue('received');
  if (!cursor) throw new Error('not due');
  expect(await hoursBehind()).toBe(1);
  await run(cursor);
  const [{ from } = { from: new Date() }] = asked;
  expect(from.getTime()).toBeLessThanOrEqual(cursor.readAt.getTime() - HOUR_MS - 29_999);
  expect(await hoursBehind()).toBe(0);
});

test.each([
  { endsInMs: HOUR_MS, others: 1 },
  { endsInMs: LEASE_MS, others: 0 },
])('of a reader whose lease ends in $endsInMs ms, $others others take the list', async (row) => {
  await database.db.query(sql`
    update acquirer_lists
    set check_at = now() + ${row.endsInMs}::int * interval '1 ms',
        lease_until = now() + ${row.endsInMs}::int * interval '1 ms',
        lease_token = gen_random_uuid()`);
  expect(await leaseDue('received')).toHaveLength(row.others);
  expect(await hoursBehind()).toBe(3);
});

test('the pages of a reader that died are not read again, and its lease lasted while it read', async () => {
  const dying = await lease();
  answer = async ({ page }) => {
    // Every page but the first finds a lease that was all but over and has been renewed.
    const [row] = await database.db.query<{ left_ms: number }>(sql`
      select extract(epoch from lease_until - now())::float8 * 1000 as left_ms from acquirer_lists`);
    if (page > 0) expect(row?.left_ms).toBeGreaterThan(LEASE_MS / 2);
    await database.db.query(
      sql`update acquirer_lists set lease_until = now() - interval '1 second' + interval '1 second'`,
    );
    if (page === 3) throw new Error('the process died');
    return await aListOf(6)({ from: new Date(), to: new Date(), page });
  };
  await expect(run(dying)).rejects.toThrow('died');
  await database.db.query(sql`update acquirer_lists set lease_until = now() - interval '1 second'`);
  answer = aListOf(6);
  await run();
  expect(pagesAsked()).toEqual([0, 1, 2, 3, 3, 4, 5]);
  expect([await hoursBehind(), await noticed()]).toEqual([0, 6]);
});

test('a reader whose process is to end stops behind its page, and another one goes on there at once', async () => {
  const stopping = new AbortController();
  answer = async (window) => {
    if (window.page === 2) stopping.abort();
    return await aListOf(6)(window);
  };
  await run(await lease(), stopping.signal);
  await run();
  expect(pagesAsked()).toEqual([0, 1, 2, 3, 4, 5]);
  expect([await hoursBehind(), await noticed()]).toEqual([0, 6]);
});

test('a reader that lost its lease stops after its page and moves nothing', async () => {
  const slow = await lease();
  answer = async (window) => {
    await database.db.query(sql`update acquirer_lists set lease_token = gen_random_uuid()`);
    return await aListOf(6)(window);
  };
  await run(slow);
  expect(pagesAsked()).toEqual([0]);
  expect(await hoursBehind()).toBe(3);
});

test('a page that is unknown is asked for again by the next run, not those before it', async () => {
  answer = (window) =>
    window.page === 2 ? { kind: 'unknown', cause: 'timeout' } : aPage([], true);
  await run();
  answer = aListOf(4);
  await run();
  expect(pagesAsked()).toEqual([0, 1, 2, 2, 3]);
  expect(await hoursBehind()).toBe(0);
});

test('a list that refuses to go on is read from its start again', async () => {
  answer = ({ page }) => (page < 2 ? aPage([], true) : { kind: 'unknown', cause: 'status_400' });
  await run();
  await run();
  answer = aListOf(2);
  await run();
  expect(pagesAsked()).toEqual([0, 1, 2, 2, 0, 1]);
  expect(await hoursBehind()).toBe(0);
});

test('items that cannot be read hide no other: they are logged by place and field, and checked where they have an id', async () => {
  const unreadable = [
    { position: 0, paths: ['valor'], endToEndId: 'E-unreadable' },
    { position: 2, paths: ['endToEndId'], endToEndId: null },
  ];
  answer = () => aPage([aReceivedPix({ endToEndId: 'E-readable' })], false, unreadable);
  await run();
  const rows = await database.db.query<{ id: string }>(
    sql`select end_to_end_id as id from pix_notices order by 1`,
  );
  expect(rows.map(({ id }) => id).toSorted()).toEqual(['E-readable', 'E-unreadable']);
  expect(await hoursBehind()).toBe(0);
  expect(logLines).toHaveLength(1);
  expect(JSON.parse(logLines[0] ?? '')).toMatchObject({
    page: 0,
    unreadable: 2,
    items: [
      { position: 0, paths: ['valor'] },
      { position: 2, paths: ['endToEndId'] },
    ],
  });
  expect(logLines[0]).not.toContain('E-unreadable');
});

test('a return that was booked while the page was on its way contradicts nothing, and a later page does', async () => {
  const pix = aReceivedPix({ returns: [aPixReturn({ id: 'r1', status: 'processing' })] });
  const { endToEndId } = pix;
  answer = async () => {
    await database.db.query(sql`
      insert into pix_returns (end_to_end_id, return_id, amount, nature, disposition)
      values (${endToEndId}, 'r1', 12345, 'ORIGINAL', 'returned')`);
    return aPage([pix], false);
  };
  await run();
  expect(await listReturnContradictions(database.db)).toEqual([]);
  await asOwner(sql`update charges.pix_returns set seen_at = seen_at - interval '2 minutes'`);
  answer = () => aPage([pix], false);
  await run();
  expect(await listReturnContradictions(database.db)).toEqual([
    { endToEndId, id: 'r1', status: 'processing' },
  ]);
});

test('a cursor that was given back without a page begins a new window', async () => {
  const cursor = await lease();
  expect(cursor.run).toBeNull();
  await releaseListCursor(database.db, cursor, 0);
  expect((await lease()).run).toBeNull();
});
