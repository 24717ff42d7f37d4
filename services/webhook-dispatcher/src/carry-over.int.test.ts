import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { newId } from '@pixmesh/kernel/ids';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { TEST_PASSWORD } from '@pixmesh/testkit/test-infra';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { readDeliveries } from '#test/listed-deliveries.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { take } from '#test/store-event.ts';

/** What the release before had written, carried over by the migrations after it. */
const MIGRATIONS = path.join(import.meta.dirname, '../migrations');
const CARRYING_OVER = '0005';
const STARTED_AT = new Date('2026-11-20T10:00:00.000Z');
const RETRY_AT = new Date('2026-11-30T10:00:00.000Z');
const LEASE_ENDS_AT = new Date('2026-11-20T10:00:13.000Z');
const ACCOUNT = newId();
const ENDPOINT = newId();
const PAUSED = newId();
const MIGRATION = { schema: 'webhook_dispatcher', password: TEST_PASSWORD };

type Old = {
  id: string;
  eventId: string;
  resourceId: string;
  endpointId: string | null;
  forResourceUrl: boolean;
  laneId: string;
  status: string;
  nextAttemptAt: Date | null;
  leased: boolean;
  /** Outcomes of the attempts that were made, one after the other. */
  attempts: readonly ('succeeded' | 'failed')[];
  /** Attempts that all began in one millisecond. */
  atOnce: boolean;
  body: Buffer;
};

const OLD = {
  fresh: anOld({ nextAttemptAt: STARTED_AT }),
  leased: anOld({ nextAttemptAt: STARTED_AT, leased: true }),
  retried: anOld({ nextAttemptAt: RETRY_AT, attempts: ['failed', 'failed'] }),
  ownUrl: anOld({
    nextAttemptAt: RETRY_AT,
    endpointId: null,
    laneId: newId(),
    attempts: ['failed'],
  }),
  forBoth: anOld({ nextAttemptAt: STARTED_AT, forResourceUrl: true }),
  waiting: anOld({
    nextAttemptAt: RETRY_AT,
    endpointId: PAUSED,
    laneId: PAUSED,
    attempts: ['failed'],
  }),
  succeeded: anOld({ status: 'succeeded', attempts: ['failed', 'succeeded'] }),
  failed: anOld({ status: 'failed', attempts: Array<'failed'>(8).fill('failed'), atOnce: true }),
  skipped: anOld({ status: 'skipped', endpointId: PAUSED, laneId: PAUSED }),
  canceled: anOld({ status: 'canceled', attempts: ['failed'] }),
  forBothOver: anOld({ status: 'succeeded', forResourceUrl: true, attempts: ['succeeded'] }),
};
/** Two deliveries of one event. */
const SECOND = anOld({
  eventId: OLD.succeeded.eventId,
  resourceId: OLD.succeeded.resourceId,
  endpointId: PAUSED,
  laneId: PAUSED,
  status: 'skipped',
});
const ALL = [...Object.values(OLD), SECOND];

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  admin = createPool({ url: database.adminUrl, applicationName: 'carry-over', max: 1 });
  await admin.query(sql`drop schema webhook_dispatcher cascade`);
  const before = mkdtempSync(path.join(tmpdir(), 'pixmesh-dispatcher-'));
  for (const name of readdirSync(MIGRATIONS).filter((file) => file < CARRYING_OVER)) {
    cpSync(path.join(MIGRATIONS, name), path.join(before, name));
  }
  await migrate(before);
  rmSync(before, { recursive: true });
  await admin.query(sql`select set_config('search_path', 'webhook_dispatcher', false)`);
  await storeEndpoints();
  for (const old of ALL) await storeOld(old);
  await migrate(MIGRATIONS);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('every body is, byte for byte, what it was', async () => {
  for (const old of ALL) {
    const written = await readStoredDeliveries(database.db, old.eventId);
    const found = written.find(({ id }) => id === old.id);
    expect(found?.body.equals(old.body)).toBe(true);
    expect(found?.status).toBe(old.status);
  }
});

test('what was not sent is noted, and nothing else is', async () => {
  const rows = await database.db.query<{ id: string; unsent: string }>(
    sql`select id, unsent from deliveries where unsent is not null`,
  );
  const unsent = ALL.filter(({ status }) => ['failed', 'skipped', 'canceled'].includes(status));
  expect(new Map(rows.map((row) => [row.id, row.unsent]))).toEqual(
    new Map(unsent.map(({ id, status }) => [id, status])),
  );
});

test('what is pending waits in the queue by its schedule, and nothing else does', async () => {
  const rows = await database.db.query(sql`
    select id, lane_id, endpoint_id, for_resource_url, rank, due_at, attempt_count
    from queue
    where id = delivery_id and not is_resend and recovery_id is null
    order by id`);
  const pending = ALL.filter(({ status }) => status === 'pending');
  expect(rows).toEqual(
    pending
      .map((old) => ({
        id: old.id,
        lane_id: old.forResourceUrl ? old.resourceId : old.laneId,
        endpoint_id: old.endpointId,
        for_resource_url: old.forResourceUrl,
        rank: old.attempts.length === 0 ? 0 : 1,
        due_at: old.nextAttemptAt,
        attempt_count: old.attempts.length,
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
});

test('every lane is claimable when its first delivery is due, and every endpoint has one', async () => {
  const rows = await database.db.query<{ id: string; at: string }>(sql`
    select id, claimable_at::text as at from lanes where not leased and fence = 0`);
  const lanes = new Map(rows.map(({ id, at }) => [id, new Date(at).getTime()]));
  expect(lanes).toEqual(
    new Map([
      [ENDPOINT, STARTED_AT.getTime()],
      [PAUSED, RETRY_AT.getTime()],
      [OLD.ownUrl.laneId, RETRY_AT.getTime()],
      [OLD.forBoth.resourceId, STARTED_AT.getTime()],
    ]),
  );
});

test('what stood for the URL of a resource is in no lane of its endpoint, also once it is over', async () => {
  for (const old of [OLD.forBoth, OLD.forBothOver]) {
    expect(await readStoredDeliveries(database.db, old.eventId)).toMatchObject([
      { laneId: old.resourceId, forOwn: true },
    ]);
  }
});

test('attempts keep their order and numbers, also those of one millisecond', async () => {
  for (const old of ALL) {
    const deliveries = await readDeliveries(database.db, old.resourceId);
    const found = deliveries.find(({ id }) => id === old.id);
    expect(found).toMatchObject({ status: old.status, nextAttemptAt: old.nextAttemptAt });
    expect(found?.attempts.map(({ number, outcome }) => [number, outcome])).toEqual(
      old.attempts.map((outcome, index) => [index + 1, outcome]),
    );
    expect(found?.attempts.map(({ durationMs }) => durationMs)).toEqual(
      old.attempts.map((_, index) => index + 1),
    );
  }
});

test('how endpoints do is counted from the attempts that were made', async () => {
  const rows = await database.db.query(
    sql`select * from endpoint_health where endpoint_id = ${ENDPOINT}`,
  );
  const made = ALL.filter(({ endpointId }) => endpointId === ENDPOINT).flatMap(
    (old) => old.attempts,
  );
  expect(rows).toEqual([
    {
      endpoint_id: ENDPOINT,
      succeeded_count: BigInt(made.filter((outcome) => outcome === 'succeeded').length),
      failed_count: BigInt(made.filter((outcome) => outcome === 'failed').length),
      last_success_at: startOf(OLD.succeeded, 1),
      last_failure_at: startOf(OLD.retried, 1),
      failing_since: null,
    },
  ]);
});

test('an event of the release before that comes again adds nothing', async () => {
  for (const old of ALL) {
    const event = aChargeEvent({
      event_id: old.eventId,
      account_id: ACCOUNT,
      charge: { id: old.resourceId },
    });
    const before = await readStoredDeliveries(database.db, old.eventId);
    await take(database.db, event);
    expect(await readStoredDeliveries(database.db, old.eventId)).toEqual(before);
  }
});

test('every destination counts as used at the upgrade, however old it is', async () => {
  const rows = await database.db.query<{ isUsed: boolean }>(sql`
    select used_at > now() - interval '1 day' as "isUsed"
    from destinations
    where created_at < now() - interval '300 days'`);
  expect(rows.map(({ isUsed }) => isUsed)).toEqual(Object.values(OLD).map(() => true));
});

test('new events and those of the weeks to come have their place', async () => {
  const now = aChargeEvent();
  const weekMs = 7 * 24 * 3_600_000;
  const later = aChargeEvent({ event_id: newIdAt(Date.now() + 3 * weekMs) });
  await take(database.db, [now, later]);
  for (const event of [now, later]) {
    expect(await readStoredDeliveries(database.db, event.event_id)).toMatchObject([
      { status: 'pending' },
    ]);
  }
});

test('nothing is left of the tables that there were', async () => {
  const rows = await admin.query(sql`
    select relname from pg_class
    where relnamespace = 'webhook_dispatcher'::regnamespace and relname ~ '^delivery_bodies'`);
  expect(rows).toEqual([]);
});

function anOld(changes: Partial<Old>): Old {
  const id = newId();
  const rest = `"object":"event","event":"charge.pix.created","data":{"note":"Café ☕ \\\\ \\" ${newId()}"}}`;
  return {
    id,
    eventId: newId(),
    resourceId: newId(),
    endpointId: ENDPOINT,
    forResourceUrl: false,
    laneId: ENDPOINT,
    status: 'pending',
    nextAttemptAt: null,
    leased: false,
    attempts: [],
    atOnce: false,
    ...changes,
    body: Buffer.from(
      `{"id":"${id}",${changes.eventId === undefined ? rest : restOf(changes.eventId)}`,
    ),
  };
}

/** All deliveries of an event share what stands behind their ids. */
function restOf(eventId: string): string {
  const first = Object.values(OLD).find((old) => old.eventId === eventId);
  return String(first?.body).slice(`{"id":"${first?.id}",`.length);
}

function newIdAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`;
}

function startOf(old: Old, index: number): Date {
  return new Date(STARTED_AT.getTime() + (old.atOnce ? 0 : index * 60_000));
}

async function migrate(migrationsDir: string): Promise<void> {
  const { adminUrl } = database;
  await migrateSchema({ ...MIGRATION, adminUrl, migrationsDir, mechanisms: ['dead-letters'] });
}

async function storeEndpoints(): Promise<void> {
  for (const [id, active] of [[ENDPOINT, true] as const, [PAUSED, false] as const]) {
    await admin.query(sql`
      insert into endpoints (id, account_id, application_id, url, description, events, active, paused_at)
      values (
        ${id}, ${ACCOUNT}, ${newId()}, 'https://shop.example.org/hook', '', '{charge.pix.created}', ${active},
        case when ${active} then null else now() end
      )`);
  }
}

/** As the release before wrote it. */
async function storeOld(old: Old): Promise<void> {
  await admin.query(sql`
    insert into events (event_id, type, account_id, application_id, resource_id, source, sequence, occurred_at)
    values (
      ${old.eventId}, 'charge.pix.created', ${ACCOUNT}, null, ${old.resourceId}, 'api', 1, ${STARTED_AT}
    )
    on conflict do nothing`);
  await admin.query(sql`
    insert into destinations (resource_id, account_id, url, created_at)
    values (${old.resourceId}, ${ACCOUNT}, 'https://shop.example.org/hook', now() - interval '1 year')
    on conflict do nothing`);
  await admin.query(sql`
    insert into deliveries (
      id, event_id, destination_id, endpoint_id, for_resource_url, account_id, resource_id, event, lane_id, status,
      attempt_count, next_attempt_at, due_at, leased, fence, traceparent
    )
    values (
      ${old.id}, ${old.eventId}, ${old.endpointId ?? old.resourceId}, ${old.endpointId}, ${old.forResourceUrl},
      ${ACCOUNT}, ${old.resourceId}, 'charge.pix.created', ${old.laneId}, ${old.status}, ${old.attempts.length},
      ${old.nextAttemptAt}, coalesce(case when ${old.leased} then ${LEASE_ENDS_AT}::timestamptz end, ${old.nextAttemptAt}, now()),
      ${old.leased}, 3, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    )`);
  await admin.query(sql`
    insert into delivery_bodies (delivery_id, body) values (${old.id}, ${old.body})`);
  for (const [index, outcome] of old.attempts.entries()) {
    await admin.query(sql`
      insert into attempts (delivery_id, number, started_at, duration_ms, outcome, status, address)
      values (
        ${old.id}, ${index + 1}, ${startOf(old, index)}, ${index + 1}, ${outcome},
        ${outcome === 'succeeded' ? 200 : 500}, '192.0.2.1'
      )`);
  }
}
