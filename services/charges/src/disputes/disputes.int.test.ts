import { armFailpoints } from '@pixmesh/service/failpoints';
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
import {
  createDisputedCharges,
  createMovesOfCharges,
  DISPUTED_AMOUNT,
} from '#test/disputed-charges.ts';
import { createLedgerPeer, ledgerCommands } from '#test/ledger-peer.ts';

let charges: ChargesUnderTest;
let ledger: ReturnType<typeof createLedgerPeer>;

beforeAll(async () => {
  charges = await startChargesUnderTest({
    DISPUTE_LIST_MS: '100',
    DISPUTE_RETURN_WINDOW_MS: '1500',
  });
  ledger = createLedgerPeer(charges);
});
afterEach(async () => {
  armFailpoints({});
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(() => charges[Symbol.asyncDispose]());

const { aPaidCharge, control, open, decide, waitForStatus, disputesOf, waitForDispute } =
  createDisputedCharges(() => ({ charges, ledger }));
const { eventsOf, ordersOf, causesOf } = createMovesOfCharges(() => ({ charges }));

describe('a dispute that opens', () => {
  test('blocks its amount, makes the charge an infraction, and is announced once with the state of the charge', async () => {
    const charge = await aPaidCharge();
    await open(charge, { amount: 1_500 });
    await waitForStatus(charge, 'infraction');
    expect(await ordersOf(charge)).toEqual(['dispute.block 1500']);
    expect(await eventsOf(charge)).toEqual([
      'charge.pix.infraction infraction',
      'dispute.pix.opened open',
    ]);
    const [dispute] = await disputesOf(charge);
    expect(dispute).toMatchObject({
      object: 'dispute',
      charge_id: charge.id,
      account_id: charge.accountId,
      status: 'open',
      amount: 1_500,
      returned_amount: 0,
      reference: 'order-7',
      reason: 'scam',
      arrived_resolved: false,
      resolved_at: null,
      defense: null,
      messages: [],
    });
  });

  test('and is won gives the block back, without a second paid', async () => {
    const charge = await aPaidCharge();
    const dispute = await open(charge);
    await waitForStatus(charge, 'infraction');
    await decide(dispute, { outcome: 'won' });
    await waitForStatus(charge, 'paid');
    expect(await eventsOf(charge)).toEqual([
      'charge.pix.infraction infraction',
      'dispute.pix.opened open',
      'dispute.pix.won won',
    ]);
    expect(await ordersOf(charge)).toEqual(['dispute.block 2000', 'dispute.unblock 2000']);
    expect(await causesOf(charge)).toEqual([
      'created',
      'issued',
      'pix_accepted',
      'pix_credited',
      'dispute_opened',
      'dispute_won',
    ]);
  });

  test('and is withdrawn counts as won', async () => {
    const charge = await aPaidCharge();
    const dispute = await open(charge);
    await waitForStatus(charge, 'infraction');
    await control(`/control/disputes/${dispute.id}/withdraw`, {});
    await waitForStatus(charge, 'paid');
    await waitForDispute(charge, 'won');
  });
});

describe('a dispute that is lost', () => {
  test.each([
    { returned: undefined, orders: ['dispute.return 2000', 'dispute.unblock 2000'] },
    { returned: 700, orders: ['dispute.return 700', 'dispute.unblock 2000'] },
  ])('takes what the MED returned, $returned, and gives the rest back', async (row) => {
    const charge = await aPaidCharge();
    const dispute = await open(charge);
    await waitForStatus(charge, 'infraction');
    await decide(dispute, {
      outcome: 'lost',
      ...(row.returned === undefined ? {} : { returned_amount: row.returned }),
    });
    await waitForStatus(charge, 'charged_back');
    await waitForDispute(charge, 'lost');
    await eventually(async () => {
      expect(await ordersOf(charge)).toEqual(['dispute.block 2000', ...row.orders]);
    });
    const events = await eventsOf(charge);
    expect(events.filter((event) => event.startsWith('charge.pix.charged_back'))).toHaveLength(1);
    expect(events.at(-1)).toBe('dispute.pix.lost lost');
    expect((await disputesOf(charge))[0].returned_amount).toBe(row.returned ?? DISPUTED_AMOUNT);
  });

  test('and whose money never returns gives the block back once the acquirer has had its time', async () => {
    const charge = await aPaidCharge();
    const dispute = await open(charge);
    await waitForStatus(charge, 'infraction');
    await decide(dispute, { outcome: 'lost', returned_amount: 0 });
    await waitForStatus(charge, 'charged_back');
    expect(await ordersOf(charge)).toEqual(['dispute.block 2000']);
    await eventually(async () => {
      expect(await ordersOf(charge)).toEqual(['dispute.block 2000', 'dispute.unblock 2000']);
    });
    expect((await causesOf(charge)).at(-1)).toBe('block_ended');
  });

  test('after it was won charges back all the same, and lost is final', async () => {
    const charge = await aPaidCharge();
    const dispute = await open(charge);
    await waitForStatus(charge, 'infraction');
    await decide(dispute, { outcome: 'won' });
    await waitForStatus(charge, 'paid');
    await decide(dispute, { outcome: 'lost' });
    await waitForStatus(charge, 'charged_back');
    await waitForDispute(charge, 'lost');
    expect((await ordersOf(charge)).toSorted()).toEqual([
      'dispute.block 2000',
      'dispute.return 2000',
      'dispute.unblock 2000',
    ]);
  });
});

describe('two disputes of one Pix', () => {
  test('the loss of the one that was won before is its own, not that of the open one', async () => {
    const charge = await aPaidCharge();
    const won = await open(charge, { amount: 800 });
    await waitForStatus(charge, 'infraction');
    await decide(won, { outcome: 'won' });
    await waitForStatus(charge, 'paid');
    const wonId = (await waitForDispute(charge, 'won')).id;
    await open(charge, { amount: 1_000 });
    await waitForStatus(charge, 'infraction');
    await decide(won, { outcome: 'lost' });
    await waitForStatus(charge, 'charged_back');
    const returned = (await ledgerCommands(charges.db)).filter(
      ({ key, type }) => key === charge.accountId && type === 'dispute.return',
    );
    expect(returned.map(({ message }) => message.data)).toMatchObject([
      { amount: 800, dispute_id: wonId },
    ]);
  });
});

describe('a dispute that arrives resolved', () => {
  test('is charged back by its MED return, without opened or infraction', async () => {
    const charge = await aPaidCharge();
    await open(charge, { status: 'lost' });
    await waitForStatus(charge, 'charged_back');
    const dispute = await waitForDispute(charge, 'lost');
    expect(dispute.arrived_resolved).toBe(true);
    expect(await eventsOf(charge)).toEqual([
      'charge.pix.charged_back charged_back',
      'dispute.pix.lost lost',
    ]);
    expect(await ordersOf(charge)).toEqual(['dispute.return 2000']);
  });

  test('is refunded where the return was an ordinary one', async () => {
    const charge = await aPaidCharge();
    await control(`/control/pix/${charge.endToEndId}/returns`, { natureza: 'ORIGINAL' });
    await open(charge, { status: 'lost', returned_amount: 0 });
    await waitForStatus(charge, 'refunded');
    const dispute = await waitForDispute(charge, 'lost');
    expect(dispute).toMatchObject({ arrived_resolved: true, returned_amount: 0 });
    expect(await eventsOf(charge)).toEqual([
      'charge.pix.refunded refunded',
      'dispute.pix.lost lost',
    ]);
  });
});

describe('operators', () => {
  test('send a defense, which puts the dispute under review, and speak in its chat', async () => {
    const charge = await aPaidCharge();
    await open(charge);
    await waitForStatus(charge, 'infraction');
    const { id } = (await disputesOf(charge))[0];
    const operator_id = newId();
    const defended = await charges.request(null, `POST /internal/disputes/${id}/defense`, {
      operator_id,
      text: 'O produto foi entregue.',
    });
    expect(defended).toMatchObject({
      status: 200,
      body: { status: 'under_review', defense: { text: 'O produto foi entregue.' } },
    });
    const again = await charges.request(null, `POST /internal/disputes/${id}/defense`, {
      operator_id,
      text: 'De novo.',
    });
    expect(again).toMatchObject({ status: 409, body: { code: 'DISPUTE_CLOSED' } });
    const said = await charges.request(null, `POST /internal/disputes/${id}/messages`, {
      operator_id,
      message_id: newId(),
      body: { message: 'Envie o comprovante.' },
    });
    expect(said).toMatchObject({
      status: 201,
      body: { messages: [{ message: 'Envie o comprovante.' }] },
    });
    expect(await eventsOf(charge)).toEqual([
      'charge.pix.infraction infraction',
      'dispute.pix.opened open',
      'dispute.pix.message under_review',
    ]);
    const [sent] = await charges.db.query<{ message: Json }>(
      sql`select message from events where key = ${charge.id} and type = 'dispute.pix.message'`,
    );
    expect(sent?.message.data.message).toBe('Envie o comprovante.');
    expect(sent?.message.destination).toBeNull();
  });

  test.each([newId(), 'no-id'])('are answered that dispute %s does not exist', async (id) => {
    for (const route of [
      `GET /internal/disputes/${id}`,
      `POST /internal/disputes/${id}/defense`,
      `POST /internal/disputes/${id}/messages`,
    ]) {
      const body = route.startsWith('POST') ? {} : undefined;
      const answer = await charges.request(null, route, body);
      expect(answer).toMatchObject({ status: 404, body: { code: 'DISPUTE_NOT_FOUND' } });
    }
  });

  test('are the only ones: a tenant is refused', async () => {
    const answer = await charges.request(aCaller(), 'GET /internal/disputes');
    expect(answer.status).toBe(401);
  });
});

test('an acquirer that answers every other call still leads to the same end', async () => {
  await charges.simulator.control('PUT', '/control/faults', {
    seed: 7,
    rules: ['listDisputes', 'getReceived', 'getCharge'].map((operation) => ({
      operation,
      fault: 'error_before',
      status: 503,
      probability: 0.5,
    })),
  });
  const charge = await aPaidCharge();
  const dispute = await open(charge);
  await waitForStatus(charge, 'infraction');
  await decide(dispute, { outcome: 'lost' });
  await waitForStatus(charge, 'charged_back');
  await waitForDispute(charge, 'lost');
  await eventually(async () => {
    expect(await ordersOf(charge)).toEqual([
      'dispute.block 2000',
      'dispute.return 2000',
      'dispute.unblock 2000',
    ]);
  });
});
