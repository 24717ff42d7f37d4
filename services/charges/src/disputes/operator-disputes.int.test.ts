import { newId } from '@pixmesh/kernel/ids';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';
import { createDisputedCharges, createMovesOfCharges } from '#test/disputed-charges.ts';
import { createLedgerPeer } from '#test/ledger-peer.ts';

let charges: ChargesUnderTest;
let ledger: ReturnType<typeof createLedgerPeer>;

beforeAll(async () => {
  charges = await startChargesUnderTest({ DISPUTE_LIST_MS: '100' });
  ledger = createLedgerPeer(charges);
});
afterEach(() => charges.simulator.control('DELETE', '/control/faults'));
afterAll(() => charges[Symbol.asyncDispose]());

const { aPaidCharge, open, waitForStatus, disputesOf, waitForDispute } = createDisputedCharges(
  () => ({ charges, ledger }),
);
const { eventsOf, causesOf } = createMovesOfCharges(() => ({ charges }));

test('a message of an operator is announced once, however often it is sent, also at once', async () => {
  const charge = await aPaidCharge();
  await open(charge);
  await waitForStatus(charge, 'infraction');
  const { id } = (await disputesOf(charge))[0];
  const asked = { operator_id: newId(), message_id: newId(), body: { message: 'Um.' } };
  const send = async (changes: object) =>
    await charges.request(null, `POST /internal/disputes/${id}/messages`, {
      ...asked,
      ...changes,
    });
  const raced = await Promise.all([send({}), send({}), send({})]);
  expect(raced.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(raced.map(replayOf).toSorted()).toEqual(['new', 'replayed', 'replayed']);
  for (const body of [{ message: 'Outro.' }, { message: 1 }, null]) {
    const answer = await send({ body });
    expect([answer.status, replayOf(answer)]).toEqual([201, 'replayed, mismatch']);
    expect(answer.body.messages).toMatchObject([{ message: 'Um.' }]);
  }
  for (const body of [{}, { message: '' }, { message: '  ' }, { message: 1 }, { message: '\0' }]) {
    const faulty = await send({ message_id: newId(), body });
    expect(faulty).toMatchObject({ status: 400, body: { details: ['message'] } });
  }
  expect(await send({ message_id: newId(), body: null })).toMatchObject({ status: 400 });
  expect((await eventsOf(charge)).slice(2)).toEqual(['dispute.pix.message open']);
});

test.each([
  [400, 'InfracoesConsultaInvalida'],
  [422, 'InfracaoOperacaoInvalida'],
])(
  'operators are answered at once that the acquirer refuses a defense (%i %s), and may send another',
  async (status, code) => {
    const { charge, defend } = await aDefensibleDispute();
    await fail('refusal', { status, code });
    expect(await defend('Primeiro.')).toMatchObject({
      status: 422,
      body: { code: 'ACQUIRER_REJECTED' },
    });
    await charges.simulator.control('DELETE', '/control/faults');
    expect(await defend('Segundo.')).toMatchObject({
      status: 200,
      body: { status: 'under_review', defense: { text: 'Segundo.' } },
    });
    expect(await causesOf(charge)).toContain('dispute_under_review');
  },
);

test.each(['error_after', 'error_before'])(
  'operators send a defense whose answer is lost (%s): it is stored, found or sent again by itself, and a repeat is no fault',
  async (fault) => {
    const { charge, defend } = await aDefensibleDispute();
    await fail(fault, { status: 503, count: 1 });
    expect(await defend('Entregue.')).toMatchObject({ status: 500 });
    const defended = await waitForDispute(charge, 'under_review');
    expect(defended.defense).toMatchObject({ text: 'Entregue.' });
    expect(await defend('Entregue.')).toMatchObject({
      status: 200,
      body: { defense: defended.defense },
    });
    expect(await defend('Outra.')).toMatchObject({ body: { code: 'DISPUTE_CLOSED' } });
    const reviews = (await causesOf(charge)).filter((cause) => cause === 'dispute_under_review');
    expect(reviews).toHaveLength(1);
  },
);

async function aDefensibleDispute() {
  const charge = await aPaidCharge();
  await open(charge);
  await waitForStatus(charge, 'infraction');
  const { id } = (await disputesOf(charge))[0];
  const operator_id = newId();
  const defend = async (text: string) =>
    await charges.request(null, `POST /internal/disputes/${id}/defense`, { operator_id, text });
  return { charge, defend };
}

async function fail(fault: string, changes: object): Promise<void> {
  const rules = [{ operation: 'submitDefense', fault, ...changes }];
  await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
}

function replayOf({ headers }: { headers: Headers }): string {
  if (headers.get('idempotent-replayed') === null) return 'new';
  return headers.get('idempotency-mismatch') === null ? 'replayed' : 'replayed, mismatch';
}
