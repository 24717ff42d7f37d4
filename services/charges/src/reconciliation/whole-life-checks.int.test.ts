import type { Break, ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { deriveCommandId, newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { type DispatcherDouble, startDispatcherDouble } from '@pixmesh/testkit/dispatcher-double';
import { eventually } from '@pixmesh/testkit/eventually';
import { reconcile as reconcileWith } from '@pixmesh/testkit/reconcile';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';
import { startLedgerDouble } from '#test/ledger-double.ts';
import { createLedgerPeer } from '#test/ledger-peer.ts';

const AMOUNT = 2_000;

let ledger: Awaited<ReturnType<typeof startLedgerDouble>>;
let dispatcher: DispatcherDouble;
let peer: ReturnType<typeof createLedgerPeer>;
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
  peer = createLedgerPeer({ ...charges, journals: ledger.journals });
  admin = createPool({ url: charges.adminUrl, applicationName: 'test', max: 2 });
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await charges[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await dispatcher[Symbol.asyncDispose]();
});

test('money without an owner, and returns of every kind, are clean while all sides agree', async () => {
  await anUnownedPix();
  const returned = await anUnownedPix();
  await returnPix(returned, { natureza: 'ORIGINAL' });
  await announceUntilRecorded(returned);
  const { e2e, id } = await aPaidCharge();
  await returnPix(e2e, { amount: 500, natureza: 'ORIGINAL' });
  await returnPix(e2e, { amount: 300, natureza: 'MED_FRAUDE' });
  await charges.announce(id);
  await eventually(async () => expect(await returnsOf(e2e)).toHaveLength(2));
  await peer.answerAll();
  expect(allBreaks(await reconcile(true))).toEqual([]);
  expect(allBreaks(await reconcile(false))).toEqual([]);
});

test('money without an owner is given by an operator alone: any other credit of it is a break', async () => {
  const e2e = await anUnownedPix();
  const [itemId, accountId] = [deriveCommandId('received_pix', e2e), newId()];
  const resolved = await charges.request(null, `POST /internal/suspense/${itemId}/resolve`, {
    action: 'accept',
    account_id: accountId,
    operator_id: newId(),
    item: { account_id: null, end_to_end_id: e2e, charge_id: null, amount: 700 },
  });
  expect(resolved.status).toBe(202);
  await peer.answerAll();
  expect(await breaksOf('received')).toEqual([]);
  const given = ledger.journals.get(deriveCommandId('suspense.credit', itemId))!;
  expect(given).toMatchObject({ kind: 'credit_suspense', account_id: accountId });
  const forged = { ...given, command_id: newId() };
  ledger.journals.set(forged.command_id, forged);
  ledger.journals.set(given.command_id, { ...given, amount: given.amount + 1 });
  const breaks = await breaksOf('received');
  expect(breaks.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual(
    [forged, given].map(({ command_id: id }) => `missing_left ${id}`).toSorted(),
  );
  ledger.journals.delete(forged.command_id);
  ledger.journals.set(given.command_id, given);
  expect(await breaksOf('received')).toEqual([]);
  await expectHandOver(itemId, given.command_id);
});

/** A decision that is recorded proves nothing without the item in suspense, and its end. */
async function expectHandOver(itemId: string, creditId: string): Promise<void> {
  const [endId, hourAgo] = [deriveCommandId('suspense.resolve', itemId), Date.now() - 3_600_000];
  const [item, end, credit] = [itemId, endId, creditId].map((id) => ledger.journals.get(id)!);
  ledger.journals.delete(endId);
  expect(await breaksOf('received')).toMatchObject([{ kind: 'unbooked', id: creditId }]);
  ledger.journals.set(creditId, { ...credit!, created_at: new Date(hourAgo).toISOString() });
  expect(await breaksOf('received')).toMatchObject([{ kind: 'missing_left', id: creditId }]);
  ledger.journals.set(creditId, credit!).set(endId, end!);
  ledger.journals.set(itemId, { ...item!, account_id: newId() });
  const ids = (await breaksOf('received')).map(({ kind, id }) => `${kind} ${id}`);
  expect(ids).toContain(`missing_left ${creditId}`);
  ledger.journals.set(itemId, item!);
  expect(await breaksOf('received')).toEqual([]);
}

test('a return that is not recorded, not booked, or not there is shown as such', async () => {
  const { e2e, id } = await aPaidCharge();
  await returnPix(e2e, { amount: 500, natureza: 'ORIGINAL' });
  await charges.announce(id);
  await eventually(async () => expect(await returnsOf(e2e)).toHaveLength(1));
  await peer.answerAll();
  const [returnId] = await returnsOf(e2e);
  const named = `${e2e}/${returnId}`;
  await admin.query(sql`
    update charges.pix_returns set return_id = 'unheard-of' where end_to_end_id = ${e2e}`);
  const breaks = await breaksOf('received');
  expect(breaks.map(({ kind, id: of }) => [kind, of]).toSorted()).toEqual([
    ['missing_left', `${e2e}/unheard-of`],
    ['missing_right', named],
  ]);
  await admin.query(sql`
    update charges.pix_returns set return_id = ${returnId} where end_to_end_id = ${e2e}`);
  const [commandId, journal] = [...ledger.journals].find(
    ([, { kind, resource_id }]) => kind === 'return_received_pix' && resource_id === id,
  ) ?? ['', null];
  ledger.journals.delete(commandId);
  expect(await breaksOf('received')).toMatchObject([{ kind: 'unbooked', id: named, amount: 500 }]);
  if (journal) ledger.journals.set(commandId, { ...journal, amount: 499 });
  expect(await breaksOf('received')).toMatchObject([{ kind: 'amount', id: named, amount: -1 }]);
  if (journal) ledger.journals.set(commandId, journal);
  expect(await breaksOf('received')).toEqual([]);
});

test('a charge in another state, with another amount, or under a txid that the acquirer lacks is a break', async () => {
  const { id } = await aPaidCharge();
  const set = async (assignment: ReturnType<typeof sql>) =>
    await admin.query(sql`update charges.charges set ${assignment} where id = ${id}`);
  await set(sql`status = 'canceled'`);
  expect(await breaksOf('charge_state')).toEqual([]);
  await set(sql`status = 'paid', amount = amount + 1`);
  expect(await breaksOf('charge_state')).toMatchObject([{ kind: 'amount', id, amount: 1 }]);
  await set(sql`amount = amount - 1`);
  const open = await aPendingCharge();
  await admin.query(sql`
    update charges.charges set status = 'canceled' where id = ${open}`);
  expect(await breaksOf('charge_state')).toMatchObject([
    { kind: 'state', id: open, expected: 'active', found: 'canceled' },
  ]);
  await admin.query(sql`update charges.charges set status = 'pending' where id = ${open}`);
  expect(await breaksOf('charge_state')).toEqual([]);
});

test('a full run compares a known charge that is older than those it goes through', async () => {
  const { id } = await aPaidCharge();
  const change = async (days: number, cents: number) =>
    await admin.query(sql`
      update charges.charges
      set amount = amount + ${cents}, created_at = created_at - ${days} * interval '1 day'
      where id = ${id}`);
  await change(0, 1);
  expect(await breaksOf('charge_state')).toMatchObject([{ kind: 'amount', id }]);
  await change(130, 0);
  const { checks } = await reconcile(true);
  const { breaks } = checks.find(({ name }) => name === 'charge_state')!;
  expect(breaks).toMatchObject([{ kind: 'amount', id }]);
  await change(-130, -1);
  expect(await breaksOf('charge_state')).toEqual([]);
});

test('a charge whose issuing never ended, because the acquirer has it with another amount, is a break', async () => {
  const id = await aPendingCharge();
  await admin.query(sql`
    update charges.charges
    set status = 'processing', amount = amount + 1, check_at = now() + interval '1 hour'
    where id = ${id}`);
  expect(await breaksOf('charge_state')).toMatchObject([{ kind: 'amount', id, amount: 1 }]);
  await admin.query(sql`
    update charges.charges set status = 'pending', amount = amount - 1 where id = ${id}`);
  expect(await breaksOf('charge_state')).toEqual([]);
});

test('a gap in the history of a charge, and a chain that does not hold, are breaks', async () => {
  const { id } = await aPaidCharge();
  const [row] = await admin.query<{ row: object }>(sql`
    with removed as (
      delete from charges.charge_history where charge_id = ${id} and version = 1 returning *
    )
    select to_json(removed) as row from removed`);
  expect(await breaksOf('history')).toMatchObject([{ kind: 'gap', id, expected: 'up to 3' }]);
  await admin.query(sql`
    insert into charges.charge_history
    select * from json_populate_record(null::charges.charge_history, ${JSON.stringify(row?.row)})`);
  await admin.query(sql`
    update charges.charge_history set from_status = 'failed' where charge_id = ${id} and version = 2`);
  expect(await breaksOf('history')).toMatchObject([{ kind: 'gap', id, found: '1 misfits' }]);
  await admin.query(sql`
    update charges.charge_history set from_status = 'pending' where charge_id = ${id} and version = 2`);
  expect(await breaksOf('history')).toEqual([]);
});

async function aPendingCharge(): Promise<string> {
  const caller = { ...aCaller(), creation_id: newId() };
  await charges.request(caller, 'POST /v1/charges', {
    amount: AMOUNT,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  return caller.creation_id;
}

async function aPaidCharge(): Promise<{ id: string; e2e: string }> {
  const id = await aPendingCharge();
  const path = `/control/charges/${toAcquirerId(id)}/pay`;
  const paid = (await charges.simulator.control('POST', path, {})) as Json;
  await charges.announce(id);
  await eventually(async () => {
    await peer.answerAll();
    expect(
      await admin.query(sql`select from charges.charges where id = ${id} and status = 'paid'`),
    ).toHaveLength(1);
  });
  return { id, e2e: paid.end_to_end_id };
}

async function anUnownedPix(): Promise<string> {
  const received = (await charges.simulator.control('POST', '/control/pix', {
    amount: 700,
  })) as Json;
  await charges.announceItem({ endToEndId: received.end_to_end_id });
  await eventually(async () => {
    const [notice] = await admin.query<{ outcome: string }>(sql`
      select outcome from charges.pix_notices where end_to_end_id = ${received.end_to_end_id}`);
    expect(notice?.outcome).toBe('suspended');
  });
  await peer.answerAll();
  return received.end_to_end_id;
}

async function returnPix(e2e: string, body: object): Promise<void> {
  await charges.simulator.control('POST', `/control/pix/${e2e}/returns`, body);
}

async function returnsOf(e2e: string): Promise<string[]> {
  const rows = await admin.query<{ return_id: string }>(
    sql`select return_id from charges.pix_returns where end_to_end_id = ${e2e}`,
  );
  return rows.map((row) => row.return_id);
}

async function announceUntilRecorded(e2e: string): Promise<void> {
  await charges.announceItem({ endToEndId: e2e });
  await eventually(async () => expect(await returnsOf(e2e)).toHaveLength(1));
  await peer.answerAll();
}

async function reconcile(full: boolean): Promise<ReconciliationReport> {
  return await reconcileWith((route, body) => charges.request(null, route, body), full);
}

async function breaksOf(name: string): Promise<Break[]> {
  const report = await reconcile(false);
  return report.checks.find((check) => check.name === name)?.breaks ?? [];
}

function allBreaks(report: ReconciliationReport): Break[] {
  return report.checks.flatMap(({ breaks }) => breaks);
}
