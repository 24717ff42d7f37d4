import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { outboundEvent } from '@pixmesh/postgres/events';
import { named, sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterEach(async () => {
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const AMOUNT = 2_000;

async function aPendingCharge() {
  const caller = { ...aCaller(), creation_id: newId() };
  const created = await charges.request(caller, 'POST /v1/charges', {
    amount: AMOUNT,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  expect(created.body.status).toBe('pending');
  return { caller, id: caller.creation_id };
}

async function pay(id: string, body: object = {}): Promise<void> {
  await charges.simulator.control('POST', `/control/charges/${id}/pay`, body);
}

async function commandsOf(accountId: string): Promise<{ type: string; message: Json }[]> {
  return await charges.db.query(
    named(
      'test_commands',
      sql`select type, message from events where topic = 'ledger.commands.v1' and key = ${accountId} order by event_id`,
    ),
  );
}

async function waitForCommands(accountId: string, count: number) {
  return await eventually(async () => {
    const commands = await commandsOf(accountId);
    expect(commands).toHaveLength(count);
    return commands;
  });
}

async function credited(accountId: string, chargeId: string, endToEndId: string): Promise<void> {
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
          command_id: deriveCommandId('received_pix', endToEndId),
          journal_id: newId(),
          end_to_end_id: endToEndId,
          charge_id: chargeId,
          amount: toCents(AMOUNT),
          balance: { available: toCents(AMOUNT), pending: toCents(0) },
        },
      },
    ),
  );
}

test('a callback leads to one credit command, and the ledger posting it makes the charge paid, once', async () => {
  const { caller, id } = await aPendingCharge();
  await pay(id);
  await Promise.all(Array.from({ length: 20 }, () => charges.announce(id)));
  const [command] = await waitForCommands(caller.account_id, 1);
  const endToEndId = command?.message.data.end_to_end_id;
  expect(command).toMatchObject({
    type: 'received_pix.credit',
    message: { data: { charge_id: id, amount: AMOUNT, release_at: null } },
  });
  const inProgress = await charges.request(caller, `GET /v1/charges/${id}`);
  expect(inProgress.body).toMatchObject({ status: 'pending', paid_at: null });
  await Promise.all([1, 2, 3].map(() => credited(caller.account_id, id, endToEndId)));
  const paid = await eventually(async () => {
    const read = await charges.request(caller, `GET /v1/charges/${id}`);
    expect(read.body.status).toBe('paid');
    return read.body;
  });
  expect(paid.pix.end_to_end_id).toBe(endToEndId);
  const events = await charges.db.query<{ type: string; sequence: number; message: Json }>(
    sql`select type, sequence, message from events where key = ${id} order by sequence`,
  );
  expect(events.map((event) => [event.type, event.sequence])).toEqual([
    ['charge.pix.created', 1],
    ['charge.pix.emitted', 2],
    ['charge.pix.paid', 3],
  ]);
  expect(events[2]?.message.data).toEqual(paid);
  expect(await commandsOf(caller.account_id)).toHaveLength(1);
});

test('a payment without a callback is found by the routine check', async () => {
  const { caller, id } = await aPendingCharge();
  await pay(id);
  await charges.db.query(
    sql`update charges set check_at = now() - interval '1 second' where id = ${id}`,
  );
  await waitForCommands(caller.account_id, 1);
});

test('a wrong amount goes to suspense and the charge stays as it was', async () => {
  const { caller, id } = await aPendingCharge();
  await pay(id, { amount: AMOUNT - 1 });
  await charges.announce(id);
  const [command] = await waitForCommands(caller.account_id, 1);
  expect(command).toMatchObject({
    type: 'received_pix.suspend',
    message: { data: { amount: AMOUNT - 1, reason: 'amount_mismatch' } },
  });
  const read = await charges.request(caller, `GET /v1/charges/${id}`);
  expect(read.body).toMatchObject({ status: 'pending', pix: { end_to_end_id: null } });
});

test('while the acquirer is away a requested check is repeated until it answers', async () => {
  const { caller, id } = await aPendingCharge();
  await pay(id);
  const rules = [{ operation: 'getCharge', fault: 'error_before', status: 503, count: 5 }];
  await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
  await charges.announce(id);
  await waitForCommands(caller.account_id, 1);
});

test('a callback about a charge that is not ours does nothing', async () => {
  const { caller, id } = await aPendingCharge();
  await charges.announce(newId());
  await charges.announce('no-such-charge');
  await charges.announce(id);
  await eventually(async () => {
    const [row] = await charges.db.query<{ checks: number }>(
      sql`select checks from charges where id = ${id}`,
    );
    expect(row?.checks).toBeGreaterThan(0);
  });
  expect(await commandsOf(caller.account_id)).toEqual([]);
  expect(await charges.db.query(sql`select from dead_letters`)).toEqual([]);
});

test('a credit of a Pix that no charge accepted is parked, not applied', async () => {
  const { caller, id } = await aPendingCharge();
  await credited(caller.account_id, id, `E${'0'.repeat(31)}`);
  await eventually(async () => {
    const letters = await charges.db.query<{ code: string }>(sql`select code from dead_letters`);
    expect(letters).toEqual([{ code: 'MESSAGE_INVALID' }]);
  });
  expect((await charges.request(caller, `GET /v1/charges/${id}`)).body.status).toBe('pending');
});
