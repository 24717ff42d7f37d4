import { type TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';
import { createLedgerPeer, ledgerCommands } from '#test/ledger-peer.ts';

let charges: ChargesUnderTest;
let ledger: ReturnType<typeof createLedgerPeer>;

beforeAll(async () => {
  charges = await startChargesUnderTest();
  ledger = createLedgerPeer(charges);
});
afterEach(async () => {
  await charges.simulator.control('DELETE', '/control/faults');
  await charges.simulator.control('PUT', '/control/tariff', { amount: 0 });
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const AMOUNT = 2_000;

type OpenCharge = { caller: TenantClaims; id: string };

async function aPendingCharge(): Promise<OpenCharge> {
  const caller = { ...aCaller(), creation_id: newId() };
  const created = await charges.request(caller, 'POST /v1/charges', {
    amount: AMOUNT,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  expect(created.body.status).toBe('pending');
  return { caller, id: caller.creation_id };
}

async function pay(id: string, body: object = {}): Promise<string> {
  const paid = (await charges.simulator.control(
    'POST',
    `/control/charges/${id}/pay`,
    body,
  )) as Json;
  return paid.end_to_end_id;
}

async function returnPix(endToEndId: string, body: object): Promise<string> {
  const path = `/control/pix/${endToEndId}/returns`;
  return ((await charges.simulator.control('POST', path, body)) as Json).id;
}

async function read({ caller, id }: OpenCharge): Promise<Json> {
  return (await charges.request(caller, `GET /v1/charges/${id}`)).body;
}

async function waitFor(charge: OpenCharge, wanted: object): Promise<Json> {
  return await eventually(async () => {
    await ledger.answerAll();
    const found = await read(charge);
    expect(found).toMatchObject(wanted);
    return found;
  });
}

async function aPaidCharge(): Promise<OpenCharge & { endToEndId: string }> {
  const charge = await aPendingCharge();
  const endToEndId = await pay(charge.id);
  await charges.announce(charge.id);
  await waitFor(charge, { status: 'paid' });
  return { ...charge, endToEndId };
}

async function commandsAbout(endToEndId: string): Promise<Json[]> {
  const all = await ledgerCommands(charges.db);
  return all
    .filter(({ message }) => message.data.end_to_end_id === endToEndId)
    .map(({ type, message }) => ({ type, account_id: message.account_id, ...message.data }));
}

async function waitForCommands(endToEndId: string, types: readonly string[]): Promise<Json[]> {
  return await eventually(async () => {
    const commands = await commandsAbout(endToEndId);
    // Ids of one millisecond are in no order.
    expect(commands.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
    return commands;
  });
}

async function eventsOf(id: string): Promise<string[]> {
  const rows = await charges.db.query<{ type: string }>(
    sql`select type from events where key = ${id} order by sequence`,
  );
  return rows.map(({ type }) => type);
}

async function historyOf(id: string): Promise<string[]> {
  const rows = await charges.db.query<{ version: number; line: string }>(sql`
    select version, to_status || ' by ' || cause as line
    from charge_history where charge_id = ${id} order by version`);
  expect(rows.map(({ version }) => version)).toEqual(rows.map((_row, index) => index));
  return rows.map(({ line }) => line);
}

const PAID = ['charge.pix.created', 'charge.pix.emitted', 'charge.pix.paid'];

describe('money for a charge', () => {
  test('that was paid already goes to suspense; the charge stays paid', async () => {
    const charge = await aPaidCharge();
    const second = await pay(charge.id);
    await charges.announce(charge.id);
    const [command] = await waitForCommands(second, ['received_pix.suspend']);
    expect(command).toMatchObject({
      reason: 'second_pix',
      charge_id: charge.id,
      account_id: charge.caller.account_id,
    });
    expect(await eventsOf(charge.id)).toEqual(PAID);
    expect(await historyOf(charge.id)).toEqual([
      'processing by created',
      'pending by issued',
      'pending by pix_accepted',
      'paid by pix_credited',
      'paid by pix_suspended',
    ]);
  });

  test('that the acquirer has removed goes to suspense, and the charge has failed', async () => {
    const charge = await aPendingCharge();
    await charges.db.query(sql`
      update charges set status = 'failed', failure_reason = 'issuance_timeout: x' where id = ${charge.id}`);
    const endToEndId = await pay(charge.id);
    await charges.announce(charge.id);
    const [command] = await waitForCommands(endToEndId, ['received_pix.suspend']);
    expect(command).toMatchObject({ reason: 'charge_closed' });
    expect((await read(charge)).status).toBe('failed');
  });

  test('that names a charge which the acquirer refused goes to suspense of its account', async () => {
    const caller = { ...aCaller(), creation_id: newId() };
    const rules = [
      { operation: 'issueCharge', count: 1, fault: 'refusal', code: 'x', message: 'x' },
    ];
    await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
    const refused = await charges.request(caller, 'POST /v1/charges', {
      amount: AMOUNT,
      customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
    });
    expect(refused.body.code).toBe('ACQUIRER_REJECTED');
    const txid = caller.creation_id.replaceAll('-', '');
    const pix = { amount: AMOUNT, txid };
    const received = (await charges.simulator.control('POST', '/control/pix', pix)) as Json;
    await charges.announceItem({ endToEndId: received.end_to_end_id, txid });
    const commands = await waitForCommands(received.end_to_end_id, ['received_pix.suspend']);
    expect(commands).toMatchObject([
      { reason: 'charge_closed', charge_id: caller.creation_id, account_id: caller.account_id },
    ]);
  });

  test('brings the acquirer’s price to the books with it, once', async () => {
    await charges.simulator.control('PUT', '/control/tariff', { amount: 3 });
    const charge = await aPendingCharge();
    const endToEndId = await pay(charge.id);
    await Promise.all([1, 2, 3].map(() => charges.announce(charge.id)));
    const commands = await waitForCommands(endToEndId, [
      'received_pix.credit',
      'acquirer_tariff.book',
    ]);
    const tariff = commands.find(({ type }) => type === 'acquirer_tariff.book');
    expect(tariff).toMatchObject({ amount: 3, account_id: null });
  });
});

test('a charge that failed and turns up later is removed at the acquirer', async () => {
  const charge = await aPendingCharge();
  await charges.db.query(sql`
    update charges set status = 'failed', failure_reason = 'issuance_timeout: x', check_at = now() - interval '1 second'
    where id = ${charge.id}`);
  await eventually(async () => {
    const journal = (await charges.simulator.control('GET', '/control/journal')) as Json;
    const entries: Json[] = journal.data ?? journal.entries ?? journal;
    const txid = charge.id.replaceAll('-', '');
    expect(entries.filter((entry) => entry.txid === txid).map(({ kind }) => kind)).toEqual([
      'issued',
      'canceled',
    ]);
  });
});

test('a removal in our name that was not recorded cancels the charge', async () => {
  const charge = await aPendingCharge();
  const token = await acquirerToken();
  const txid = charge.id.replaceAll('-', '');
  const removal = await fetch(`${charges.simulator.url}/v2/cob/${txid}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }),
  });
  expect(removal.status).toBe(200);
  await charges.announce(charge.id);
  await waitFor(charge, { status: 'canceled' });
  expect(await eventsOf(charge.id)).toEqual([
    'charge.pix.created',
    'charge.pix.emitted',
    'charge.pix.canceled',
  ]);
});

async function acquirerToken(): Promise<string> {
  const answer = await fetch(`${charges.simulator.url}/oauth/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('client:secret-of-the-client').toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ grant_type: 'client_credentials' }),
  });
  return ((await answer.json()) as Json).access_token;
}

describe('a return without an order of ours', () => {
  test('of a part leaves the charge paid, of the rest refunds it', async () => {
    const charge = await aPaidCharge();
    await returnPix(charge.endToEndId, { amount: 500, natureza: 'ORIGINAL' });
    await Promise.all([1, 2, 3].map(() => charges.announce(charge.id)));
    await waitFor(charge, { status: 'paid', refunded_amount: 500 });
    await returnPix(charge.endToEndId, { amount: 1_500, natureza: 'ORIGINAL' });
    await charges.announce(charge.id);
    await waitFor(charge, { status: 'refunded', refunded_amount: AMOUNT });
    expect(await eventsOf(charge.id)).toEqual([...PAID, 'charge.pix.refunded']);
    const commands = await waitForCommands(charge.endToEndId, [
      'received_pix.credit',
      'received_pix.return',
      'received_pix.return',
    ]);
    expect(commands.map(({ amount }) => amount)).toEqual([AMOUNT, 500, 1_500]);
    expect((await historyOf(charge.id)).slice(-2)).toEqual([
      'paid by returned_at_acquirer',
      'refunded by returned_at_acquirer',
    ]);
  });

  test('under the MED charges back at the first cent, and books each return', async () => {
    const charge = await aPaidCharge();
    await returnPix(charge.endToEndId, { amount: 1, natureza: 'MED_FRAUDE' });
    await charges.announce(charge.id);
    await waitFor(charge, { status: 'charged_back', refunded_amount: 0 });
    await returnPix(charge.endToEndId, { amount: 99, natureza: 'MED_FRAUDE' });
    await charges.announce(charge.id);
    const commands = await waitForCommands(charge.endToEndId, [
      'received_pix.credit',
      'dispute.return',
      'dispute.return',
    ]);
    expect(commands.slice(1)).toMatchObject([
      { amount: 1, from: 'blocked', charge_id: charge.id },
      { amount: 99 },
    ]);
    expect(await eventsOf(charge.id)).toEqual([...PAID, 'charge.pix.charged_back']);
  });

  test('seen before the ledger has credited the Pix waits for it, and is booked then', async () => {
    const charge = await aPendingCharge();
    const endToEndId = await pay(charge.id);
    await returnPix(endToEndId, { natureza: 'ORIGINAL' });
    await charges.announce(charge.id);
    await waitForCommands(endToEndId, ['received_pix.credit']);
    await waitFor(charge, { status: 'refunded' });
    expect(await eventsOf(charge.id)).toEqual([...PAID, 'charge.pix.refunded']);
    await waitForCommands(endToEndId, ['received_pix.credit', 'received_pix.return']);
  });
});

describe('money without an owner', () => {
  async function receive(body: object): Promise<string> {
    const received = (await charges.simulator.control('POST', '/control/pix', body)) as Json;
    return received.end_to_end_id;
  }

  async function outcomeOf(endToEndId: string): Promise<string | null> {
    const [notice] = await charges.db.query<{ outcome: string | null }>(
      sql`select outcome from pix_notices where end_to_end_id = ${endToEndId}`,
    );
    return notice?.outcome ?? null;
  }

  test.each([
    ['without a txid', {}],
    ['with a txid that no charge of ours has', { txid: 'a'.repeat(30) }],
    ['with a txid that could be ours and is not', { txid: newId().replaceAll('-', '') }],
    ['with a txid in upper case', { txid: newId().replaceAll('-', '').toUpperCase() }],
  ])('%s goes to suspense of the platform, once', async (_name, named) => {
    const endToEndId = await receive({ amount: 700, ...named });
    await Promise.all([1, 2, 3].map(() => charges.announceItem({ endToEndId, ...named })));
    const [command] = await waitForCommands(endToEndId, ['received_pix.suspend']);
    expect(command).toMatchObject({
      reason: 'unowned',
      charge_id: null,
      account_id: null,
      amount: 700,
    });
    await eventually(async () => expect(await outcomeOf(endToEndId)).toBe('suspended'));
  });

  test('that goes back to its payer ends its item', async () => {
    const endToEndId = await receive({ amount: 700 });
    await charges.announceItem({ endToEndId });
    await waitForCommands(endToEndId, ['received_pix.suspend']);
    await eventually(async () => expect(await outcomeOf(endToEndId)).toBe('suspended'));
    await returnPix(endToEndId, { natureza: 'ORIGINAL' });
    await charges.announceItem({ endToEndId });
    const commands = await waitForCommands(endToEndId, [
      'received_pix.suspend',
      'suspense.resolve',
    ]);
    expect(commands[1]).toMatchObject({ action: 'return', account_id: null });
  });

  test('and is not there, or not ours, has no effect', async () => {
    const foreign = await receive({ amount: 700, chave: 'other@example.com' }).catch(() => null);
    const ids = [`E${newId()}`, foreign].filter((id) => id !== null);
    for (const endToEndId of ids) await charges.announceItem({ endToEndId });
    for (const endToEndId of ids) {
      await eventually(async () => expect(await outcomeOf(endToEndId)).not.toBeNull());
      expect(await commandsAbout(endToEndId)).toEqual([]);
    }
    expect(await outcomeOf(ids[0] ?? '')).toBe('not_found');
    if (foreign !== null) expect(['foreign_key', 'not_found']).toContain(await outcomeOf(foreign));
  });

  test('a Pix that names a charge of ours without saying so in its callback pays that charge', async () => {
    const charge = await aPendingCharge();
    const endToEndId = await pay(charge.id);
    await charges.announceItem({ endToEndId });
    await waitFor(charge, { status: 'paid' });
    await eventually(async () => expect(await outcomeOf(endToEndId)).toBe('of_charge'));
  });
});
