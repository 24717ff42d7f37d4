import { OwnedTimeline, TIMELINE_ENTRIES_MAX } from '@pixmesh/contracts/internal/timeline';
import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { eventHistoryStatement } from '@pixmesh/postgres/event-history';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import { isVisible, type VisiblePayout } from '#payouts/payout-row.ts';
import { payoutSuspendCommandIds } from '#payouts/ledger-commands.ts';
import { recordReturns } from '#status-check/record-returns.ts';
import { orderEnd } from '#settlement/order-end.ts';
import { suspendContradiction } from '#settlement/suspend-contradiction.ts';
import { anAcquirerPayout, aReturn } from '#test/an-acquirer-payout.ts';
import { type Json } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';
import { fillPayouts, storePayout } from '#test/store-payout.ts';

import { readPayoutTimeline } from './payout-timeline.ts';
import { resolutionsStatement, returnsStatement, sendingStatement } from './payout-steps.sql.ts';

let mesh: PayoutsUnderTest;
beforeAll(async () => {
  mesh = await startPayoutsUnderTest();
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

const PATIENCE_MS = 20_000;
const BODY = { amount: 1_000, pix_key_type: 'email', pix_key: 'Ana@Example.com' };
const pathOf = (id: string) => `GET /internal/payouts/${id}/timeline`;

const deps = () => ({
  db: mesh.db,
  moves: createPayoutMoves(mesh.db),
  logger: createLogger('test', 'silent'),
  wakeOutbox: () => undefined,
  acceptedChecks: { firstMs: 1_000, maxMs: 1_000 },
});

async function timelineOf(id: string): Promise<OwnedTimeline> {
  const answer = await mesh.request(null, pathOf(id));
  expect(answer.status).toBe(200);
  const timeline = OwnedTimeline.parse(answer.body);
  expect(timeline).toEqual(answer.body);
  expect([timeline.truncated, timeline.resource_ids]).toEqual([false, [id]]);
  return timeline;
}

async function aPayout(): Promise<{ id: string; accountId: string }> {
  const caller = await mesh.fundedCreator(5_000);
  expect((await mesh.request(caller, 'POST /v1/payouts', BODY)).status).toBe(201);
  return { id: caller.creation_id, accountId: caller.account_id };
}

async function visible(id: string): Promise<VisiblePayout> {
  const row = await mesh.row(id);
  if (row === null || !isVisible(row)) throw new Error('no payout');
  return row;
}

/** What the ledger has of the commands told, as `kind amount`. */
async function journalsOf({ command_ids }: OwnedTimeline): Promise<string[]> {
  const found: Json = await mesh.ledger.ask('POST /internal/journals/lookup', null, {
    command_ids,
  });
  return found.data.map(({ kind, amount }: Json) => `${kind} ${amount}`);
}

const listed = ({ entries }: OwnedTimeline) => entries.map(({ kind, what }) => `${kind} ${what}`);

test('a payout that completed, came back in two parts and was contradicted tells every step once, with all its journals', async () => {
  await aPayout();
  const { id } = await aPayout();
  const endToEndId = `E${newId().replaceAll('-', '').slice(1)}`;
  const sent = anAcquirerPayout({ status: 'settled', endToEndId });
  expect(await orderEnd(deps(), await visible(id), { kind: 'settle', sent })).toBe(true);
  await eventually(async () => expect((await visible(id)).status).toBe('completed'), PATIENCE_MS);
  const amountCents = toCents(300);
  const returns = ['D1', 'D2'].map((returnId) => aReturn({ id: returnId, returnId, amountCents }));
  await recordReturns(deps(), await visible(id), { ...sent, returns });
  await suspendContradiction(deps(), await visible(id), 'failed_after_completed');
  await eventually(async () => {
    expect((await journalsOf(await timelineOf(id))).toSorted()).toEqual([
      'credit_payout_return 300',
      'credit_payout_return 300',
      'settle_hold 1000',
      'suspend_payout 1000',
      'take_hold 1000',
    ]);
  }, PATIENCE_MS);
  const timeline = await timelineOf(id);
  expect(listed(timeline)).toEqual([
    'state new → intent',
    'state intent → processing',
    'event payment.pix.created',
    'event payment.pix.processing',
    'state processing → completed',
    'event payment.pix.completed',
    'state returned',
    'state returned',
  ]);
  expect(timeline.entries.every((step) => step.resource_id === id)).toBe(true);
  expect(JSON.stringify(timeline).toLowerCase()).not.toContain('ana@');
});

test('nobody but the installation is answered, and of an intent nobody', async () => {
  const caller = await mesh.fundedCreator(0);
  const tenant = await mesh.request(caller, pathOf(newId()));
  expect([tenant.status, tenant.body.code]).toEqual([401, 'UNAUTHORIZED']);
  const { id: intent } = await storePayout(mesh.db, { status: 'intent' });
  for (const id of [newId(), 'no-id', intent]) {
    const answer = await mesh.request(null, pathOf(id));
    expect([answer.status, answer.body.code]).toEqual([404, 'PAYOUT_NOT_FOUND']);
  }
});

const OTHERS = 20_000;
const OWN = 3;
const LIMIT = 1_001;
/** Of 20,000 rows each table has hundreds. */
const PAGES_MAX = 40;

async function fill(db: Database, payoutId: string): Promise<void> {
  await fillPayouts(db, { accountId: newId(), rows: OTHERS });
  await db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    select 'E' || n, 'D' || n, case when n <= ${OWN} then ${payoutId}::uuid else gen_random_uuid() end, gen_random_uuid(), 1
    from generate_series(1, ${OTHERS}::int) as n`);
  await db.query(sql`
    insert into suspense_resolutions (id, item_id, payout_id, account_id, amount, requested_by)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid()
    from generate_series(1, ${OTHERS}::int)`);
  await db.query(sql`
    insert into events (event_id, topic, key, type, sequence, message)
    select id, ${TOPICS.payoutsEvents}, case when n <= ${OWN} then ${payoutId} else id::text end, 'payment.pix.created',
      n, '{"data": {"status": "pending"}}'
    from unnest(${Array.from({ length: OTHERS }, () => newId())}::uuid[]) with ordinality as one (id, n)`);
}

test.each(['filled', 'empty'])(
  'each part of a timeline is read from an index, and nothing of others, on tables that were analyzed while they were %s',
  { timeout: 120_000 },
  async (analyzed) => {
    await using database = await createTestDatabase('payouts');
    const { db } = database;
    await using admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 1 });
    const { id, createdAt } = await storePayout(db, { createdAt: new Date() });
    if (analyzed === 'empty') await admin.query(sql`analyze`);
    await fill(db, id);
    if (analyzed === 'filled') await admin.query(sql`analyze`);
    const history = { topic: TOPICS.payoutsEvents, key: id, since: createdAt, limit: LIMIT };
    const statements = [
      [sendingStatement(id), /^payouts_pkey$/],
      [returnsStatement(id, LIMIT), /^payout_returns_payout$/],
      [resolutionsStatement(payoutSuspendCommandIds({ id }), LIMIT), /^suspense_resolutions_item$/],
      // A month without an event is a table without a page, which is read as it is.
      [eventHistoryStatement(history), /^(events_\d+_topic_key_sequence_idx1?|Seq Scan)$/],
    ] as const;
    for (const [statement, index] of statements) {
      const { scans, rowsRead, pagesRead } = await explainStatement(db, statement);
      const others = scans.filter((scan) => scan !== 'Bitmap Heap Scan' && !index.test(scan));
      expect([index, others, rowsRead <= OWN, pagesRead < PAGES_MAX]).toEqual([
        index,
        [],
        true,
        true,
      ]);
    }
  },
);

test('a life that is longer than a timeline may be is cut, and says so', async () => {
  const { id } = await storePayout(mesh.db, { status: 'completed', endToEndId: newId() });
  const payout = await visible(id);
  await mesh.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    select ${payout.endToEndId}, n::text, ${id}::uuid, ${payout.accountId}::uuid, 1
    from generate_series(0, ${TIMELINE_ENTRIES_MAX}::int + 5) as n`);
  const { entries, command_ids, truncated } = await readPayoutTimeline(mesh.db, payout);
  expect([entries.length, command_ids.length, truncated]).toEqual([1_000, 1_000, true]);
});
