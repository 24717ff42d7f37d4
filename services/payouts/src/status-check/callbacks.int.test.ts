import { newId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import { createNamedChecks } from '@pixmesh/postgres/named-checks';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { leaseNamedPayouts } from './callback-checks.sql.ts';
import { callbacksConsumer } from './callbacks.consumer.ts';

let database: TestDatabase;
let wakeUps = 0;
/** Places that the job has, and what it was given to check. */
let places = 0;
const begun: string[] = [];
const logLines: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase('payouts');
});
beforeEach(() => {
  wakeUps = 0;
  places = 0;
  begun.length = 0;
  logLines.length = 0;
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

type Item = Record<string, unknown>;

/** Hands one item of a callback to a consumer, as the gateway publishes it. */
async function announce(item: Item, kind = 'sent', to = aConsumer()): Promise<void> {
  await to.handlers[0]?.handle({
    event_id: newId(),
    type: 'acquirer.callback',
    version: 1,
    occurred_at: new Date().toISOString(),
    account_id: null,
    application_id: null,
    data: { kind, item },
  });
}

/** Beside a job with so many places, which checks nothing. */
function aConsumer() {
  return callbacksConsumer({
    logger: createLogger('payouts', 'warn', { write: (line) => void logLines.push(line) }),
    callbackChecks: createNamedChecks({
      lease: (names, at) => leaseNamedPayouts(database.db, names, { places: at, leaseMs: 60_000 }),
      job: {
        takeNow: async (_max, take) => {
          const rows = await take(places);
          places -= rows.length;
          begun.push(...rows.map(({ id }) => id));
        },
      },
      wakeStatusChecks: () => {
        wakeUps += 1;
      },
    }),
  });
}

async function aSentPayout(endToEndId: string | null = null): Promise<PayoutId> {
  const [id] = await storeDuePayouts(database.db, 1);
  await database.db.query(sql`
    update payouts set send_at = null, end_to_end_id = ${endToEndId} where id = ${id}`);
  return id as PayoutId;
}

async function isCheckRequested(id: PayoutId): Promise<boolean> {
  const [row] = await database.db.query<{ requested: boolean }>(
    sql`select coalesce(check_at = '-infinity', false) as requested from payouts where id = ${id}`,
  );
  return row?.requested ?? false;
}

test.each(['sent', 'sent_return'])(
  'a callback (%s) that names an idEnvio requests a check at once',
  async (kind) => {
    const id = await aSentPayout();
    const item = { endToEndId: 'E9', status: 'REALIZADO', gnExtras: { idEnvio: toAcquirerId(id) } };
    await announce(item, kind);
    expect(await isCheckRequested(id)).toBe(true);
    expect(wakeUps).toBe(1);
  },
);

test('one that names the end-to-end id alone does so too', async () => {
  const id = await aSentPayout('E12345678202611211200aaaaaaaaaaa');
  await announce({ endToEndId: 'E12345678202611211200aaaaaaaaaaa', tipo: 'SOLICITACAO' });
  expect(await isCheckRequested(id)).toBe(true);
  expect(wakeUps).toBe(1);
});

async function checkTimesOf(id: PayoutId) {
  const [row] = await database.db.query<Record<string, unknown>>(sql`
    select check_at, lease_token is not null as is_leased, due_at = lease_until as is_due_at_its_end, check_traceparent
    from payouts where id = ${id}`);
  return row;
}

test('callbacks that come together are checked at once where there are places, and requested otherwise', async () => {
  const ids = [];
  for (let count = 0; count < 5; count += 1) ids.push(await aSentPayout(`E-own-${count}`));
  places = 3;
  const consumer = aConsumer();
  await Promise.all(
    ids.map((_id, index) => announce({ endToEndId: `E-own-${index}` }, 'sent', consumer)),
  );
  expect(begun.toSorted()).toEqual(ids.slice(0, 3).toSorted());
  const requested = await Promise.all(ids.map((id) => isCheckRequested(id)));
  expect(requested).toEqual([false, false, false, true, true]);
  expect(wakeUps).toBe(1);
});

test('a lease leaves the time from which the row is looked for, and its check is due when the lease ends', async () => {
  const id = await aSentPayout();
  await database.db.query(sql`
    update payouts set check_at = date_trunc('milliseconds', now()) + interval '5 s', due_at = now() + interval '60 s'
    where id = ${id}`);
  const before = await checkTimesOf(id);
  places = 1;
  await announce({ gnExtras: { idEnvio: toAcquirerId(id) } });
  expect(begun).toEqual([id]);
  expect(await checkTimesOf(id)).toMatchObject({
    check_at: before?.check_at,
    is_leased: true,
    is_due_at_its_end: true,
  });
});

test('one that is being checked is checked again afterwards', async () => {
  const id = await aSentPayout();
  places = 2;
  await announce({ gnExtras: { idEnvio: toAcquirerId(id) } });
  await announce({ gnExtras: { idEnvio: toAcquirerId(id) } });
  expect(begun).toEqual([id]);
  expect(await isCheckRequested(id)).toBe(true);
});

test('fifty at once ask for one check and change nothing else', async () => {
  const id = await aSentPayout();
  const item = { status: 'NAO_REALIZADO', gnExtras: { idEnvio: toAcquirerId(id) } };
  await Promise.all(Array.from({ length: 50 }, () => announce(item)));
  const [row] = await database.db.query(
    sql`select status, version, ending, contradiction from payouts where id = ${id}`,
  );
  expect(row).toEqual({ status: 'processing', version: 0, ending: null, contradiction: null });
});

test.each(['received', 'received_return', 'unknown'])(
  'what belongs to charges (%s) is left to them, whatever it names',
  async (kind) => {
    const id = await aSentPayout();
    await announce({ gnExtras: { idEnvio: toAcquirerId(id) } }, kind);
    expect(await isCheckRequested(id)).toBe(false);
    expect(logLines).toEqual([]);
  },
);

test.each<[string, Item]>([
  ['of somebody else', { endToEndId: 'E0', gnExtras: { idEnvio: toAcquirerId(newId()) } }],
  ['with an idEnvio that is none of ours', { gnExtras: { idEnvio: 'not-an-id' } }],
  ['that names nothing', {}],
  ['with an end-to-end id that no text may hold', { endToEndId: 'E\0', tipo: 'SOLICITACAO' }],
  ['with broken names', { endToEndId: 7, gnExtras: 'x' }],
  ['with a broken idEnvio', { endToEndId: null, gnExtras: { idEnvio: { a: 1 } } }],
])('a callback %s is logged without its contents and does nothing', async (_name, item) => {
  await announce({ ...item, chave: 'ana@example.com' });
  expect(wakeUps).toBe(0);
  expect(logLines).toHaveLength(1);
  expect(logLines[0]).toContain('callback names no payout');
  expect(logLines[0]).not.toContain('ana@example.com');
});
