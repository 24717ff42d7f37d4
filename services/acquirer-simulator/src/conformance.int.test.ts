import { parseBrCode } from '@pixmesh/acquirer/br-code';
import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  aCharge,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

/** Deadline of a client that meets a fault without an answer. */
const HASTY_MS = 600;
/** Longer than a call takes to arrive, also on a busy machine. */
const ARRIVED_MS = 3_000;

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
});

/** A client per test: the breaker of one that has met faults would keep the next from its call. */
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

async function fault(...rules: object[]): Promise<void> {
  const { status } = await simulator.call('PUT', '/control/faults', { seed: 1, rules });
  expect(status).toBe(200);
}

/** What the journal says about one txid. */
async function journalOf(txid: string): Promise<unknown[]> {
  const { body } = await simulator.call('GET', '/control/journal?limit=10000');
  const entries = body['data'] as { txid: string; kind: string }[];
  return entries.filter((entry) => entry.txid === txid).map(({ kind }) => kind);
}

describe("the client and the simulator's operations", () => {
  it('issue a charge with a BR Code that parses and points at its location', async () => {
    const charge = aCharge();
    const outcome = await acquirer.issueCharge(charge);
    if (outcome.kind !== 'issued') throw new Error(`unexpected ${outcome.kind}`);
    expect(outcome.charge).toMatchObject({
      txid: charge.txid,
      status: 'active',
      amountCents: 1_000n,
      expiresInSeconds: 3_600,
      pixKey: TEST_ACCOUNT.pixKey,
      received: [],
    });
    const { location } = outcome.charge;
    expect(location).toMatch(/^[^:]{1,77}$/);
    const code = parseBrCode(outcome.charge.brCode ?? '');
    expect(code).toMatchObject({ kind: 'valid', fields: { kind: 'dynamic', url: location } });
    expect(await acquirer.getCharge(charge.txid)).toEqual({ kind: 'found', value: outcome.charge });
    expect(await journalOf(charge.txid)).toEqual(['issued']);
  });

  it('answer a second PUT of a txid as a duplicate, which the client calls unknown', async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    const again = await acquirer.issueCharge({ ...charge, amountCents: 2_000n });
    expect(again).toEqual({ kind: 'unknown', cause: 'status_409' });
    const found = await acquirer.getCharge(charge.txid);
    expect(found).toMatchObject({ kind: 'found', value: { amountCents: 1_000n } });
  });

  it('issue one charge when many PUTs of a txid race', async () => {
    const charge = aCharge();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => acquirer.issueCharge(charge)),
    );
    expect(outcomes.filter(({ kind }) => kind === 'issued')).toHaveLength(1);
    expect(await journalOf(charge.txid)).toEqual(['issued']);
  });

  it('refuse what is malformed or not for this account, and say so in the journal', async () => {
    const foreign = simulator.client({ pixKey: 'somebody@else.example' });
    const charge = aCharge();
    expect(await foreign.issueCharge(charge)).toMatchObject({
      kind: 'refused',
      code: 'chave_invalida',
    });
    const malformed = aCharge({ expiresInSeconds: 0 });
    expect(await acquirer.issueCharge(malformed)).toMatchObject({
      kind: 'refused',
      code: 'CobOperacaoInvalida',
    });
    expect(await journalOf(charge.txid)).toEqual(['refused']);
    expect(await journalOf(malformed.txid)).toEqual(['refused']);
    expect(await acquirer.getCharge(charge.txid)).toEqual({ kind: 'not_found' });
  });

  it('show a payment below its charge and by its end-to-end id', async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    const paid_at = '2026-03-04T05:06:07.089Z';
    const body = { amount: 1_234, paid_at };
    const paid = await simulator.call('POST', `/control/charges/${charge.txid}/pay`, body);
    const pix = {
      endToEndId: paid.body['end_to_end_id'] as string,
      txid: charge.txid,
      pixKey: TEST_ACCOUNT.pixKey,
      amountCents: 1_234n,
      paidAt: new Date(paid_at),
      returns: [],
      tariffCents: null,
    };
    expect(await acquirer.getReceived(pix.endToEndId)).toEqual({ kind: 'found', value: pix });
    expect(await acquirer.getCharge(charge.txid)).toMatchObject({
      kind: 'found',
      value: { status: 'settled', amountCents: 1_000n, received: [pix] },
    });
    expect(await journalOf(charge.txid)).toEqual(['issued', 'paid']);
  });

  it('know nothing of other ids', async () => {
    expect(await acquirer.getCharge(aCharge().txid)).toEqual({ kind: 'not_found' });
    expect(await acquirer.cancelCharge(aCharge().txid)).toEqual({ kind: 'not_found' });
    expect(await acquirer.getReceived('E1')).toEqual({ kind: 'not_found' });
  });

  it('cancel an unpaid charge once, and a paid one never', async () => {
    const [unpaid, paid] = [aCharge(), aCharge()];
    await Promise.all([acquirer.issueCharge(unpaid), acquirer.issueCharge(paid)]);
    await simulator.call('POST', `/control/charges/${paid.txid}/pay`);
    expect(await acquirer.cancelCharge(unpaid.txid)).toMatchObject({
      kind: 'canceled',
      charge: { status: 'removed_by_receiver' },
    });
    const refused = { kind: 'refused', code: 'status_cobranca_invalido' };
    expect(await acquirer.cancelCharge(unpaid.txid)).toMatchObject(refused);
    expect(await acquirer.cancelCharge(paid.txid)).toMatchObject(refused);
    expect(await journalOf(unpaid.txid)).toEqual(['issued', 'canceled']);
  });

  it('let either the payment or the removal of a charge win', async () => {
    for (let round = 0; round < 10; round += 1) {
      const charge = aCharge();
      await acquirer.issueCharge(charge);
      const [canceled] = await Promise.all([
        acquirer.cancelCharge(charge.txid),
        simulator.call('POST', `/control/charges/${charge.txid}/pay`),
      ]);
      const found = await acquirer.getCharge(charge.txid);
      const status = canceled.kind === 'canceled' ? 'removed_by_receiver' : 'settled';
      expect(found).toMatchObject({ kind: 'found', value: { status, received: [{}] } });
    }
  });

  it('refuse wrong credentials', async () => {
    const stranger = simulator.client({ clientSecret: 'wrong' });
    const outcome = await stranger.issueCharge(aCharge());
    expect(outcome).toEqual({ kind: 'unknown', cause: 'token_status_401' });
  });
});

describe('faults of a call', () => {
  it.each([
    ['error_before', { status: 503 }, { kind: 'unknown', cause: 'status_503' }],
    ['error_before', { status: 404 }, { kind: 'unknown', cause: 'status_404' }],
    ['hang', {}, { kind: 'unknown', cause: 'timeout' }],
    ['reset', {}, { kind: 'unknown', cause: 'connection' }],
    ['refusal', {}, { kind: 'refused', code: 'documento_bloqueado' }],
    [
      'refusal',
      { status: 422, code: 'AB03', message: 'x' },
      { kind: 'refused', code: 'AB03', message: 'x' },
    ],
    ['refusal', { status: 403 }, { kind: 'unknown', cause: 'status_403' }],
    ['refusal', { status: 429 }, { kind: 'unknown', cause: 'status_429' }],
  ])('%s %j leaves no charge', async (name, more, outcome) => {
    const client = name === 'hang' ? simulator.client({ timeoutMs: HASTY_MS }) : acquirer;
    const charge = aCharge();
    await fault({ operation: 'issueCharge', fault: name, count: 1, ...more });
    expect(await client.issueCharge(charge)).toMatchObject(outcome);
    expect(await acquirer.getCharge(charge.txid)).toEqual({ kind: 'not_found' });
    expect(await journalOf(charge.txid)).toEqual(name === 'refusal' ? ['refused'] : []);
    expect(await acquirer.issueCharge(charge)).toMatchObject({ kind: 'issued' });
  });

  it.each([
    ['error_after', {}, 'status_500'],
    ['error_after', { status: 502 }, 'status_502'],
    ['garbage', {}, 'unreadable'],
    ['latency', { delay_ms: 60_000 }, 'timeout'],
  ])('%s %j loses the answer to a charge that exists', async (name, more, cause) => {
    const client = name === 'latency' ? simulator.client({ timeoutMs: ARRIVED_MS }) : acquirer;
    const charge = aCharge();
    await fault({ operation: 'issueCharge', fault: name, count: 1, ...more });
    expect(await client.issueCharge(charge)).toEqual({ kind: 'unknown', cause });
    expect(await acquirer.getCharge(charge.txid)).toMatchObject({ kind: 'found' });
    expect(await journalOf(charge.txid)).toEqual(['issued']);
  });

  it('latency lets a payment overtake the answer', async () => {
    const charge = aCharge();
    await fault({ operation: 'issueCharge', fault: 'latency', delay_ms: 300 });
    const issuing = acquirer.issueCharge(charge);
    await eventually(async () => expect(await journalOf(charge.txid)).toEqual(['issued']));
    const paid = await simulator.call('POST', `/control/charges/${charge.txid}/pay`);
    expect(paid.status).toBe(200);
    expect(await issuing).toMatchObject({ kind: 'issued', charge: { status: 'active' } });
  });

  it('error_after on a cancellation takes the charge off all the same', async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    await fault({ operation: 'cancelCharge', fault: 'error_after', count: 1 });
    expect(await acquirer.cancelCharge(charge.txid)).toMatchObject({ kind: 'unknown' });
    const found = await acquirer.getCharge(charge.txid);
    expect(found).toMatchObject({ kind: 'found', value: { status: 'removed_by_receiver' } });
  });

  it.each(['refusal', 'error_before', 'error_after', 'reset', 'garbage', 'hang'])(
    '%s makes every look-up unknown, never "not found"',
    async (name) => {
      const client = name === 'hang' ? simulator.client({ timeoutMs: HASTY_MS }) : acquirer;
      await fault(
        { operation: 'getCharge', fault: name },
        { operation: 'getReceived', fault: name },
        { operation: 'cancelCharge', fault: name, status: 500 },
      );
      expect(await client.getCharge(aCharge().txid)).toMatchObject({ kind: 'unknown' });
      expect(await client.getReceived('E1')).toMatchObject({ kind: 'unknown' });
      expect(await client.cancelCharge(aCharge().txid)).toMatchObject({ kind: 'unknown' });
    },
  );

  it('a token that cannot be had leaves the charge unsent', async () => {
    const fresh = simulator.client();
    await fault({ operation: 'token', fault: 'error_before', count: 1 });
    const charge = aCharge();
    const outcome = await fresh.issueCharge(charge);
    expect(outcome).toEqual({ kind: 'unknown', cause: 'token_status_500' });
    expect(await fresh.issueCharge(charge)).toMatchObject({ kind: 'issued' });
  });

  it('a token that is refused once is replaced for a read', async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    await fault({ operation: 'getCharge', fault: 'refusal', status: 401, count: 1 });
    expect(await acquirer.getCharge(charge.txid)).toMatchObject({ kind: 'found' });
  });

  it('a callback URL that is refused makes the registration throw', async () => {
    await fault({ operation: 'registerCallback', fault: 'refusal', count: 1 });
    const url = 'http://hooks.example.com/acquirer/secret';
    await expect(acquirer.registerCallback(url)).rejects.toThrow('webhook_invalido');
    await expect(acquirer.registerCallback(url)).resolves.toBeUndefined();
  });
});
