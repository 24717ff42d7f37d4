import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import {
  aCharge,
  aPaidCharge,
  aSend,
  journalOfSend,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  testEnvironment,
  type TestSimulator,
} from '#test/test-simulator.ts';

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  await receiveCallbacks(simulator);
});
beforeEach(() => {
  acquirer = simulator.client();
});
afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
afterEach(async () => {
  await simulator.call('DELETE', '/control/faults');
});

async function add(...rules: object[]): Promise<string> {
  const { status, body } = await simulator.call('POST', '/control/faults', { rules });
  expect([status, body['rules']]).toEqual([201, rules]);
  return body['id'] as string;
}

/** A charge of a debtor of its own, issued. */
async function aChargeOf(name: string) {
  const charge = { ...aCharge(), debtor: { name, document: '52998224725' } };
  return { charge, issued: await acquirer.issueCharge(charge) };
}

const refusal = { fault: 'refusal', status: 400, code: 'documento_bloqueado' };

test('a filter by debtor is about the charges of that debtor, before and after they exist', async () => {
  await add(
    { operation: 'issueCharge', ...refusal, only: { debtor: 'Ana 1' } },
    { operation: 'getCharge', fault: 'error_before', only: { debtor: 'Rui 1' } },
  );
  const ana = await aChargeOf('Ana 1');
  const rui = await aChargeOf('Rui 1');
  const eva = await aChargeOf('Eva 1');
  expect([ana, rui, eva].map(({ issued }) => issued.kind)).toEqual(['refused', 'issued', 'issued']);
  expect((await acquirer.getCharge(rui.charge.txid)).kind).toBe('unknown');
  expect((await acquirer.getCharge(eva.charge.txid)).kind).toBe('found');
});

test('a filter by txid follows the Pix of that charge to its returns and notices', async () => {
  const [own, other] = [await aPaidCharge(simulator), await aPaidCharge(simulator)];
  await add(
    { operation: 'getReceived', fault: 'error_before', only: { txid: own.txid } },
    { operation: 'settleRefund', fault: 'refusal', only: { txid: own.txid } },
    { operation: 'callback', fault: 'drop', only: { txid: own.txid } },
  );
  for (const { endToEndId, kind } of [
    { ...own, kind: 'unknown' },
    { ...other, kind: 'found' },
  ]) {
    expect((await simulator.client().getReceived(endToEndId)).kind).toBe(kind);
    await simulator.client().refund({ endToEndId, refundId: 'r1', amountCents: 100n });
  }
  const noticed = await eventually(async () => {
    const items = (await listItems(simulator)).filter(({ devolucoes }) => devolucoes);
    expect(items.map(({ txid }) => txid)).toContain(other.txid);
    return items;
  });
  expect(noticed.map(({ txid }) => txid)).not.toContain(own.txid);
  const refund = await simulator.client().getRefund(own.endToEndId, 'r1');
  expect(refund).toMatchObject({ value: { status: 'failed' } });
});

test('filters of orders are about a recipient, or about one order', async () => {
  const [blocked, held, free] = [
    aSend({ pixKey: 'ana@example.com' }),
    aSend({ pixKey: 'rui@example.com' }),
    aSend({ pixKey: 'rui@example.com' }),
  ];
  await add({ operation: 'sendPayout', fault: 'refusal', only: { pix_key: 'ana@example.com' } });
  const hold = await add({
    operation: 'settlePayout',
    fault: 'hang',
    only: { id_envio: held.idEnvio },
  });
  const drop = await add({
    operation: 'callback',
    fault: 'drop',
    only: { pix_key: 'rui@example.com' },
  });
  const kinds = [];
  for (const send of [blocked, held, free]) kinds.push((await acquirer.sendPayout(send)).kind);
  expect(kinds).toEqual(['refused', 'accepted', 'accepted']);
  const kindsOf = async (idEnvio: string) =>
    (await journalOfSend(simulator, idEnvio)).map(({ kind }) => kind);
  await eventually(async () => expect(await kindsOf(free.idEnvio)).toEqual(['sent', 'settled']));
  // Another client's script comes and goes, and holds nothing back for this one.
  await simulator.call(
    'DELETE',
    `/control/faults/${await add({ operation: 'token', fault: 'hang' })}`,
  );
  expect(await kindsOf(held.idEnvio)).toEqual(['sent']);
  await simulator.call('DELETE', `/control/faults/${drop}`);
  await simulator.call('DELETE', `/control/faults/${hold}`);
  await eventually(async () => expect(await kindsOf(held.idEnvio)).toEqual(['sent', 'settled']));
  const idsOf = (items: Record<string, unknown>[]) =>
    items.map(({ gnExtras }) => (gnExtras as { idEnvio?: string } | undefined)?.idEnvio);
  await eventually(async () => expect(idsOf(await listItems(simulator))).toContain(held.idEnvio));
  expect(idsOf(await listItems(simulator))).not.toContain(free.idEnvio);
});

test('a held refund is released with the filter that speaks of it', async () => {
  const [own, other] = [await aPaidCharge(simulator), await aPaidCharge(simulator)];
  const first = await add({ operation: 'settleRefund', fault: 'hang', only: { txid: own.txid } });
  await add({ operation: 'settleRefund', fault: 'hang', only: { txid: other.txid } });
  for (const { endToEndId } of [own, other]) {
    await acquirer.refund({ endToEndId, refundId: 'r1', amountCents: 100n });
  }
  const statusOf = async ({ endToEndId }: { endToEndId: string }) =>
    (await acquirer.getRefund(endToEndId, 'r1')) as { value?: { status: string } };
  await simulator.call('DELETE', `/control/faults/${first}`);
  await eventually(async () => expect((await statusOf(own)).value?.status).toBe('returned'));
  expect((await statusOf(other)).value?.status).toBe('processing');
});

test('added scripts survive a restart, and PUT and DELETE end them all', async () => {
  const rule = { operation: 'balance', fault: 'error_before', count: 3 };
  const id = await add(rule);
  expect((await acquirer.balance()).kind).toBe('unknown');
  await using second = await startTestSimulator(database.url, testEnvironment(database.url));
  const seen = await second.call('GET', '/control/faults');
  expect(seen.body['added']).toEqual([{ id, seed: 0, rules: [{ ...rule, count: 2 }] }]);
  const put = await simulator.call('PUT', '/control/faults', { rules: [] });
  expect(put.body).toEqual({ seed: 0, rules: [] });
  await add(rule);
  await simulator.call('DELETE', '/control/faults');
  const { body } = await simulator.call('GET', '/control/faults');
  expect(body).toEqual({ seed: 0, rules: [] });
});

test('what is removed twice, or was never added, is gone all the same', async () => {
  for (const id of ['nobody', await add({ operation: 'token', fault: 'hang' })]) {
    expect((await simulator.call('DELETE', `/control/faults/${id}`)).status).toBe(204);
    expect((await simulator.call('DELETE', `/control/faults/${id}`)).status).toBe(204);
  }
});
