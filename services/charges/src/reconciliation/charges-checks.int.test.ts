import type { Break, ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { outboundEvent } from '@pixmesh/postgres/events';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { type DispatcherDouble, startDispatcherDouble } from '@pixmesh/testkit/dispatcher-double';
import { eventually } from '@pixmesh/testkit/eventually';
import { reconcile as reconcileWith } from '@pixmesh/testkit/reconcile';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';
import { startLedgerDouble, type WireJournal } from '#test/ledger-double.ts';

const AMOUNT = 2_000;

let ledger: Awaited<ReturnType<typeof startLedgerDouble>>;
let dispatcher: DispatcherDouble;
let charges: ChargesUnderTest;
let admin: Database;

beforeAll(async () => {
  ledger = await startLedgerDouble();
  dispatcher = await startDispatcherDouble();
  charges = await startChargesUnderTest({
    LEDGER_URL: ledger.url,
    DISPATCHER_URL: dispatcher.url,
    RECONCILIATION_WINDOW_MS: '1',
    RECONCILIATION_MS: '3600000',
  });
  admin = createPool({ url: charges.adminUrl, applicationName: 'test', max: 2 });
});

afterEach(async () => {
  ledger.setAway(false);
  await charges.simulator.control('DELETE', '/control/faults');
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await charges[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await dispatcher[Symbol.asyncDispose]();
});

test('charges that were paid and credited are clean, in full and incrementally', async () => {
  await aPaidCharge();
  await aPaidCharge();
  const full = await reconcile(true);
  const incremental = await reconcile(false);
  expect(allBreaks(full)).toEqual([]);
  expect(allBreaks(incremental)).toEqual([]);
  expect(full.checks.map(({ name }) => name)).toEqual([
    'received',
    'credit',
    'dispute',
    'refund',
    'history',
    'delivery',
    'outbox',
    'dead_letter',
    'charge_state',
  ]);
  expect(comparedOf(full, 'received')).toBe(2);
  expect(comparedOf(full, 'credit')).toBe(2);
  expect(comparedOf(full, 'charge_state')).toBe(2);
  expect(comparedOf(full, 'history')).toBe(2);
  expect(comparedOf(full, 'outbox')).toBe(2);
});

test('a Pix that we never recorded is missing on the right, and heals when it is', async () => {
  const { e2e, id } = await aPaidCharge();
  const [row] = await admin.query(sql`
    with removed as (delete from charges.received_pix where end_to_end_id = ${e2e} returning *)
    select to_json(removed) as row from removed`);
  const breaks = await breaksOf('received');
  expect(breaks).toMatchObject([
    { kind: 'missing_right', id: e2e, expected: '2000', amount: AMOUNT },
  ]);
  expect(await breaksOf('credit')).toMatchObject([{ kind: 'missing_right', id }]);
  await admin.query(sql`
    insert into charges.received_pix
    select * from json_populate_record(null::charges.received_pix, ${JSON.stringify((row as { row: object }).row)})`);
  expect(await breaksOf('received')).toEqual([]);
  expect(await breaksOf('credit')).toEqual([]);
});

test('a Pix that only we know is missing on the left', async () => {
  const { e2e, id } = await aPaidCharge();
  await admin.query(sql`
    insert into charges.received_pix
      (end_to_end_id, charge_id, account_id, amount, paid_at, disposition, reason)
    select 'E-invented', charge_id, account_id, amount, paid_at, 'suspense', 'second_pix'
    from charges.received_pix where end_to_end_id = ${e2e}`);
  expect(await breaksOf('received')).toMatchObject([
    { kind: 'missing_left', id: 'E-invented', found: '2000' },
  ]);
  await admin.query(sql`
    update charges.received_pix set disposition = 'credit', reason = null where end_to_end_id = 'E-invented'`);
  expect(await breaksOf('credit')).toMatchObject([
    { kind: 'missing_left', id, expected: '1 credit', found: '2 credits' },
  ]);
  expect(await accountsOf('credit')).toEqual([await accountOf(id)]);
  await admin.query(sql`delete from charges.received_pix where end_to_end_id = 'E-invented'`);
  expect(await breaksOf('received')).toEqual([]);
  expect(await breaksOf('credit')).toEqual([]);
});

test('another amount or time than the acquirer has is shown as such', async () => {
  const { e2e } = await aPaidCharge();
  await admin.query(sql`
    update charges.received_pix
    set amount = amount - 1, paid_at = paid_at - interval '1 second'
    where end_to_end_id = ${e2e}`);
  expect(await breaksOf('received')).toMatchObject([
    { kind: 'amount', id: e2e, expected: '2000', found: '1999', amount: -1 },
    { kind: 'date', id: e2e },
  ]);
  await admin.query(sql`
    update charges.received_pix
    set amount = amount + 1, paid_at = paid_at + interval '1 second'
    where end_to_end_id = ${e2e}`);
  expect(await breaksOf('received')).toEqual([]);
});

test.each<[string, Partial<WireJournal> | null, Partial<Break>, Partial<Break>]>([
  ['is missing', null, { kind: 'unbooked' }, { kind: 'missing_right', found: 'no journal' }],
  [
    'has another amount',
    { amount: 1_500 },
    { kind: 'amount', expected: '2000', found: '1500', amount: -500 },
    { kind: 'amount', expected: '2000', found: '1500', amount: -500 },
  ],
])(
  'a credit that %s in the ledger is a break of the Pix and of its charge',
  async (_, change, pix, charge) => {
    const { e2e, id } = await aPaidCharge();
    const commandId = deriveCommandId('received_pix', e2e);
    const journal = ledger.journals.get(commandId);
    if (!journal) throw new Error('the test has no journal');
    if (change === null) ledger.journals.delete(commandId);
    else ledger.journals.set(commandId, { ...journal, ...change });
    expect(await breaksOf('received')).toMatchObject([{ id: e2e, ...pix }]);
    expect(await breaksOf('credit')).toMatchObject([{ id, ...charge }]);
    const stopped = change === null ? null : await accountOf(id);
    expect(await accountsOf('credit')).toEqual([stopped]);
    ledger.journals.set(commandId, journal);
    expect(await breaksOf('received')).toEqual([]);
    expect(await breaksOf('credit')).toEqual([]);
  },
);

test('a credit that was booked for another charge, or to suspense, is a break', async () => {
  const { e2e, id } = await aPaidCharge();
  const commandId = deriveCommandId('received_pix', e2e);
  const journal = ledger.journals.get(commandId);
  if (!journal) throw new Error('the test has no journal');
  ledger.journals.set(commandId, {
    ...journal,
    kind: 'suspend_received_pix',
    resource_id: newId(),
  });
  expect(await breaksOf('received')).toMatchObject([
    { kind: 'state', id: e2e, expected: 'credit', found: 'suspend_received_pix' },
  ]);
  expect(await breaksOf('credit')).toMatchObject([{ kind: 'state', id }]);
  ledger.journals.set(commandId, journal);
  expect(await breaksOf('received')).toEqual([]);
});

test('a charge whose Pix is credited and which is not paid is a break of its state', async () => {
  const { id, e2e } = await anAcceptedCharge();
  book(e2e, id, await accountOf(id));
  expect(await breaksOf('credit')).toMatchObject([
    { kind: 'state', id, expected: 'paid', found: 'pending' },
  ]);
  await announceCredit(e2e, id);
  expect(await breaksOf('credit')).toEqual([]);
});

test('a charge that is neither accepted nor paid and has a credit is a break of its state', async () => {
  const { id, e2e } = await anAcceptedCharge();
  book(e2e, id, await accountOf(id));
  await admin.query(sql`update charges.charges set accepted_e2e = null where id = ${id}`);
  const expected = [{ kind: 'state', id, expected: 'paid', found: 'pending' }];
  expect(breaksIn(await reconcile(true), 'credit')).toMatchObject(expected);
  expect(await breaksOf('credit')).toMatchObject(expected);
  await admin.query(sql`update charges.charges set accepted_e2e = ${e2e} where id = ${id}`);
  await announceCredit(e2e, id);
  expect(await breaksOf('credit')).toEqual([]);
});

test.each(['credit_received_pix', 'suspend_received_pix'] as const)(
  'a journal %s of a Pix that no other side has is missing on the left until it is gone',
  async (kind) => {
    const { id, e2e } = await aPaidCharge();
    const ours = must(ledger.journals.get(deriveCommandId('received_pix', e2e)));
    const orphans = [id, newId(), null].map((resource_id) => ({
      ...ours,
      command_id: newId(),
      resource_id,
      kind,
    }));
    for (const orphan of orphans) ledger.journals.set(orphan.command_id, orphan);
    const expected = orphans.map(({ command_id }) => command_id).toSorted();
    for (const full of [false, true, false]) {
      const breaks = breaksIn(await reconcile(full), 'received');
      expect(breaks.map((item) => item.id).toSorted()).toEqual(expected);
      expect(breaks.map((item) => item.kind)).toEqual(expected.map(() => 'missing_left'));
      expect(breaks.map(({ amount }) => amount)).toEqual(expected.map(() => AMOUNT));
    }
    for (const orphan of orphans) ledger.journals.delete(orphan.command_id);
    expect(await breaksOf('received')).toEqual([]);
  },
);

test('an unexplained journal is found by a full run however old, and then stays', async () => {
  const { id, e2e } = await aPaidCharge();
  const ours = must(ledger.journals.get(deriveCommandId('received_pix', e2e)));
  const command_id = newId();
  const created_at = '2020-01-01T00:00:00.000Z';
  ledger.journals.set(command_id, { ...ours, command_id, created_at, resource_id: id });
  expect(await breaksOf('received')).toEqual([]);
  const expected = [{ kind: 'missing_left', id: command_id }];
  expect(breaksIn(await reconcile(true), 'received')).toMatchObject(expected);
  expect(await breaksOf('received')).toMatchObject(expected);
  ledger.journals.delete(command_id);
  expect(await breaksOf('received')).toEqual([]);
});

test.each<[string, Partial<WireJournal>, Partial<Break>]>([
  ['for another account', { account_id: newId() }, { kind: 'state' }],
  ['with another amount', { amount: 1_500 }, { kind: 'amount', found: '1500', amount: -500 }],
])('a new journal %s than its old Pix names is a break', async (_name, change, expected) => {
  const { e2e } = await aPaidCharge();
  const commandId = deriveCommandId('received_pix', e2e);
  const journal = must(ledger.journals.get(commandId));
  // The watermark lies so far ahead that both sides list nothing: only the journal is newer.
  await admin.query(sql`
    update charges.reconciliation_runs set watermark = now() + interval '20 minutes'
    where check_name = 'received'`);
  const created_at = new Date(Date.now() + 600_000).toISOString();
  ledger.journals.set(commandId, { ...journal, ...change, created_at });
  expect(await breaksOf('received')).toMatchObject([{ id: e2e, ...expected }]);
  ledger.journals.set(commandId, journal);
  expect(await breaksOf('received')).toEqual([]);
});

test('an event that is missing is a break until the counter agrees again', async () => {
  const { id } = await aPaidCharge();
  await admin.query(
    sql`update charges.charges set event_sequence = event_sequence + 1 where id = ${id}`,
  );
  expect(await breaksOf('outbox')).toMatchObject([
    { kind: 'missing_right', id, expected: '4', found: '3' },
  ]);
  await admin.query(
    sql`update charges.charges set event_sequence = event_sequence - 1 where id = ${id}`,
  );
  expect(await breaksOf('outbox')).toEqual([]);
});

test('an acquirer or a ledger that is away leaves its checks uncompared, which is a break', async () => {
  const { id } = await aPaidCharge();
  ledger.setAway(true);
  expect(await breaksOf('credit')).toMatchObject([{ kind: 'unavailable', id: 'credit' }]);
  ledger.setAway(false);
  await charges.simulator.control('PUT', '/control/faults', {
    seed: 1,
    rules: [{ operation: 'listReceived', fault: 'error_before', status: 500 }],
  });
  const report = await reconcile(false);
  expect(breaksIn(report, 'received')).toMatchObject([{ kind: 'unavailable', id: 'received' }]);
  expect(breaksIn(report, 'credit')).toEqual([]);
  await charges.simulator.control('DELETE', '/control/faults');
  expect(allBreaks(await reconcile(false))).toEqual([]);
  expect(id).toBeDefined();
});

/** Whose payouts the breaks of a check stop; null: nobody's. */
async function accountsOf(check: string): Promise<(string | null)[]> {
  const rows = await admin.query<{ account_id: string | null }>(
    sql`select account_id from charges.reconciliation_breaks where check_name = ${check}`,
  );
  return rows.map(({ account_id }) => account_id);
}

/** Breaks of one check after an incremental run. */
async function breaksOf(name: string): Promise<Break[]> {
  return breaksIn(await reconcile(false), name);
}

async function reconcile(full: boolean): Promise<ReconciliationReport> {
  return await reconcileWith((route, body) => charges.request(null, route, body), full);
}

function breaksIn(report: ReconciliationReport, name: string): Break[] {
  return report.checks.find((check) => check.name === name)?.breaks ?? [];
}

function allBreaks(report: ReconciliationReport): Break[] {
  return report.checks.flatMap(({ breaks }) => breaks);
}

function comparedOf(report: ReconciliationReport, name: string): number | undefined {
  return report.checks.find((check) => check.name === name)?.compared;
}

/** A charge that everybody agrees about: paid at the acquirer, booked in the ledger, `paid` here. */
async function aPaidCharge(): Promise<{ id: string; e2e: string }> {
  const { id, e2e } = await anAcceptedCharge();
  book(e2e, id, await accountOf(id));
  await announceCredit(e2e, id);
  return { id, e2e };
}

async function anAcceptedCharge(): Promise<{ id: string; e2e: string }> {
  const caller = { ...aCaller(), creation_id: newId() };
  await charges.request(caller, 'POST /v1/charges', {
    amount: AMOUNT,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  const id = caller.creation_id;
  const paid = await charges.simulator.control('POST', `/control/charges/${id}/pay`, {});
  const { end_to_end_id: e2e } = paid as { end_to_end_id: string };
  await charges.announce(id);
  await eventually(async () => {
    expect(
      await admin.query(sql`select from charges.received_pix where end_to_end_id = ${e2e}`),
    ).toHaveLength(1);
  });
  return { id, e2e };
}

function book(e2e: string, chargeId: string, accountId: string): void {
  const command_id = deriveCommandId('received_pix', e2e);
  ledger.journals.set(command_id, {
    command_id,
    account_id: accountId,
    kind: 'credit_received_pix',
    resource_id: chargeId,
    amount: AMOUNT,
    created_at: new Date().toISOString(),
  });
}

async function accountOf(chargeId: string): Promise<string> {
  const rows = await admin.query<{ account_id: string }>(
    sql`select account_id from charges.charges where id = ${chargeId}`,
  );
  return rows[0]?.account_id ?? '';
}

async function announceCredit(e2e: string, chargeId: string): Promise<void> {
  const accountId = await accountOf(chargeId);
  await charges.publish(
    outboundEvent(
      ReceivedPixCredited,
      { key: accountId, sequence: null },
      {
        event_id: newId(),
        type: 'received_pix.credited',
        version: 1,
        occurred_at: new Date().toISOString(),
        account_id: accountId,
        application_id: null,
        data: {
          command_id: deriveCommandId('received_pix', e2e),
          journal_id: newId(),
          end_to_end_id: e2e,
          charge_id: chargeId,
          amount: toCents(AMOUNT),
          balance: { available: 0n, pending: 0n },
        },
      },
    ),
  );
  await eventually(async () => {
    expect(
      await admin.query(
        sql`select from charges.charges where id = ${chargeId} and status = 'paid'`,
      ),
    ).toHaveLength(1);
  });
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the test lacks it');
  return value;
}
