import { type AccountId, type EndpointId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { aLogged, storeLogged, type LoggedDelivery } from '#test/logged-deliveries.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import { findDelivery, listLog, type LogFilters, logStatement } from './delivery-log.sql.ts';

const WEEK_MS = 7 * 86_400_000;
const OTHERS = scaled(20_000, 400_000);
/** Of our account, most of them alike. */
const OURS = scaled(10_000, 200_000);
const LIMIT = 50;
/** Whatever the filters: of every week and every kind of event the beginning of a range, and the page itself. */
const PAGES_MAX = 4_000;
/** Of one range in every week, and the page itself. */
const PAGES_OF_RANGE_MAX = 1_200;

let database: TestDatabase;
const accountId = newId<AccountId>();
const endpointId = newId<EndpointId>();
const idleEndpointId = newId<EndpointId>();
const resourceId = newId();
const nowMs = Date.now();
let logged: LoggedDelivery[];
let filled: ReadonlySet<string>;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  for (const id of [endpointId, idleEndpointId])
    await storeEndpoint(database.db, { id, accountId });
  logged = [...others(), ...ours(), ...rare()].toSorted((one, two) => (one.id < two.id ? 1 : -1));
  await storeLogged(database, logged);
  filled = await findFilled();
}, 300_000);
afterAll(() => database[Symbol.asyncDispose]());

/** Over five weeks from now on, each of which has a partition. */
function timeOf(place: number, count: number): number {
  return nowMs + Math.floor((5 * WEEK_MS * place) / count);
}

function others(): LoggedDelivery[] {
  const accounts = Array.from({ length: 40 }, () => newId());
  return Array.from({ length: OTHERS }, (_, place) =>
    aLogged({
      atMs: timeOf(place, OTHERS),
      accountId: accounts[place % accounts.length]!,
      resourceId: newId(),
      endpointId: null,
      event: place % 2 === 0 ? 'charge.pix.created' : 'charge.pix.refunded',
      status: place % 3 === 0 ? 'failed' : 'succeeded',
    }),
  );
}

function ours(): LoggedDelivery[] {
  return Array.from({ length: OURS }, (_, place) =>
    aLogged({
      atMs: timeOf(place, OURS),
      accountId,
      resourceId: newId(),
      endpointId,
      event: 'charge.pix.created',
      status: 'succeeded',
    }),
  );
}

/** Before all others: a walk from the newest row on meets it last. */
function rare(): LoggedDelivery[] {
  const base = { accountId, resourceId, endpointId, event: 'charge.pix.created' } as const;
  const atMs = nowMs - 3 * WEEK_MS;
  return [
    { ...base, atMs, status: 'failed' },
    { ...base, atMs: atMs + 1, status: 'skipped' },
    { ...base, atMs: atMs + 2, status: 'canceled' },
    { ...base, atMs: atMs + 3, status: 'pending' },
    { ...base, atMs: atMs + 4, event: 'charge.pix.refunded', status: 'succeeded' },
    { ...base, atMs: atMs + 5, event: 'dispute.pix.opened', status: 'failed' },
    { ...base, atMs: atMs + 6, endpointId: idleEndpointId, status: 'succeeded' },
    { ...base, atMs: atMs + 7, endpointId: null, status: 'succeeded' },
  ].map((given) => aLogged(given as Omit<LoggedDelivery, 'id' | 'eventId'>));
}

/** A usual run takes one choice of filters in so many, by its seed: of every dimension all come within it. */
const CHOICES = scaled(7, 1);
const CHOICES_MS = scaled(120_000, 900_000);

/** Each filter alone and beside each other. */
function everyFilter(): LogFilters[] {
  const events = [undefined, 'charge.pix.created', 'charge.pix.refunded', 'dispute.pix.opened'];
  const statuses = [undefined, 'pending', 'failed', 'skipped', 'succeeded'] as const;
  const places: LogFilters[] = [
    {},
    { accountId },
    { endpointId },
    { endpointId: idleEndpointId },
    { accountId, endpointId },
    { resourceId },
    { resourceId, accountId },
    { accountId: newId() },
    { accountId: newId(), endpointId },
  ];
  const times: LogFilters[] = [
    {},
    { createdAfter: new Date(nowMs + WEEK_MS), createdBefore: new Date(nowMs + 2 * WEEK_MS) },
    { createdBefore: new Date(nowMs - WEEK_MS) },
  ];
  const all = places.flatMap((place) =>
    events.flatMap((event) =>
      statuses.flatMap((status) => times.map((time) => ({ ...place, ...time, event, status }))),
    ),
  );
  return all.filter((_, place) => place % CHOICES === testSeed() % CHOICES);
}

function isShown(row: LoggedDelivery, filters: LogFilters): boolean {
  const { createdAfter, createdBefore } = filters;
  const named = ['accountId', 'resourceId', 'endpointId', 'event', 'status'] as const;
  return (
    named.every((name) => filters[name] === undefined || filters[name] === row[name]) &&
    row.atMs > (createdAfter?.getTime() ?? 0) &&
    row.atMs < (createdBefore?.getTime() ?? Number.POSITIVE_INFINITY)
  );
}

test(
  'every choice of filters shows what it names, newest first',
  { timeout: CHOICES_MS },
  async () => {
    for (const filters of everyFilter()) {
      const expected = logged.filter((row) => isShown(row, filters)).map(({ id }) => id);
      expect(await show(null)).toEqual({ filters, ids: expected.slice(0, 5) });
      const cursor = expected[2];
      if (cursor !== undefined)
        expect(await show(cursor)).toEqual({ filters, ids: expected.slice(3, 8) });

      async function show(startingAfter: string | null): Promise<object> {
        const page = await listLog(database.db, filters, { limit: 5, startingAfter });
        return { filters, ids: page.map(({ id }) => id) };
      }
    }
  },
);

describe('however much history there is over however many weeks', () => {
  test(
    'a page reads a bounded part of it, whatever the filters',
    async () => {
      const read: [number, string][] = [];
      for (const filters of everyFilter()) {
        const page = { limit: LIMIT, startingAfter: null };
        const { pagesRead } = await explainStatement(database.db, logStatement(filters, page));
        const isOfAccount = filters.accountId !== undefined && filters.event === undefined;
        read.push([
          pagesRead / (isOfAccount ? PAGES_MAX : PAGES_OF_RANGE_MAX),
          `${pagesRead} ${JSON.stringify(filters)}`,
        ]);
      }
      const above = read.filter(([part]) => part > 1).map(([, what]) => what);
      expect(above).toEqual([]);
    },
    CHOICES_MS,
  );

  test('deep in the log as at its beginning', async () => {
    for (const filters of [{}, { accountId }, { endpointId }, { event: 'charge.pix.created' }]) {
      const shown = logged.filter((row) => isShown(row, filters));
      const startingAfter = shown.at(-LIMIT - 20)!.id;
      const page = { limit: LIMIT, startingAfter };
      const { pagesRead } = await explainStatement(database.db, logStatement(filters, page));
      expect(pagesRead).toBeLessThanOrEqual(PAGES_MAX);
    }
  });

  test(
    'no plan that is made without the values reads a table as a whole',
    async () => {
      for (const filters of everyFilter()) await expectIndexed(filters);
    },
    CHOICES_MS,
  );

  test('a page of fifty with their attempts takes 50 ms at most', async () => {
    const taken: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const startedMs = performance.now();
      const page = await listLog(
        database.db,
        { endpointId },
        { limit: LIMIT, startingAfter: null },
      );
      taken.push(performance.now() - startedMs);
      expect(page.flatMap(({ attempts }) => attempts)).toHaveLength(LIMIT);
    }
    // A busy machine makes a run slow, not all of them.
    expect(Math.min(...taken)).toBeLessThanOrEqual(50);
  });
});

test('one delivery is found by its key', async () => {
  const { id, eventId } = logged[0]!;
  expect(await findDelivery(database.db, id)).toMatchObject({
    id,
    eventId,
    attempts: [{ number: 1 }],
  });
  expect(await findDelivery(database.db, newId())).toBeNull();
});

async function expectIndexed(filters: LogFilters): Promise<void> {
  const statement = logStatement(filters, { limit: LIMIT, startingAfter: null });
  const { scans } = await genericPlan(database.db, statement);
  // Other partitions are almost empty, and so is the queue.
  const whole = scans.filter((table) => filled.has(table));
  expect({ filters, whole }).toEqual({ filters, whole: [] });
}

/** Partitions of deliveries that hold much. At the end of a week its own holds few, and those are best read at once. */
async function findFilled(): Promise<Set<string>> {
  const rows = await database.db.query<{ name: string }>(
    sql`
      select tableoid::regclass::text as name
      from deliveries
      group by tableoid
      having count(*) >= ${(OTHERS + OURS) / 10}::int`,
  );
  return new Set(rows.map(({ name }) => name));
}
