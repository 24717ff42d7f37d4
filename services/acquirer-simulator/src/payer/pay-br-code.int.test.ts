import { createHash } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import {
  aCharge,
  journalOfPix,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

/** A busy machine takes its time. */
const PATIENT_MS = 30_000;
const HOST = 'qrcode.pixmesh.example.com';
const STATIC_CODE =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR' +
  '5913Fulano de Tal6008BRASILIA62070503***63041D3D';

let database: TestDatabase;
let simulator: TestSimulator;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  await receiveCallbacks(simulator);
});
afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
afterEach(async () => {
  await simulator.call('DELETE', '/control/clock');
});

async function issue(): Promise<{ txid: string; code: string; path: string }> {
  const charge = aCharge();
  const outcome = await simulator.client().issueCharge(charge);
  if (outcome.kind !== 'issued') throw new Error(`unexpected ${outcome.kind}`);
  const { location, brCode } = outcome.charge;
  expect(location).toMatch(new RegExp(`^${HOST}/qr/v2/`));
  return { txid: charge.txid, code: brCode ?? '', path: (location ?? '').slice(HOST.length) };
}

async function payCode(code: string) {
  return await simulator.call('POST', '/control/payments', { br_code: code });
}

async function show(path: string): Promise<Response> {
  return await fetch(simulator.url + path);
}

/** Status and kind of an answer in the form of API Pix. */
async function problemAt(path: string): Promise<unknown[]> {
  const answer = await show(path);
  const { type } = (await answer.json()) as { type: string };
  return [answer.status, answer.headers.get('content-type')?.split(';')[0], type];
}

const PROBLEM = 'application/problem+json';
const NOT_FOUND = 'https://pix.bcb.gov.br/api/v2/error/CobPayloadNaoEncontrado';

describe('a location', () => {
  it('shows the charge, signed by a key that jku serves, to callers without credentials', async () => {
    const { txid, path } = await issue();
    const answer = await show(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/jose']);
    const keys = await show('/.well-known/jwks.json');
    const keySet = (await keys.json()) as JSONWebKeySet;
    const jws = await compactVerify(await answer.text(), createLocalJWKSet(keySet));
    const [key] = keySet.keys;
    expect(jws.protectedHeader).toEqual({
      alg: 'ES256',
      kid: key?.kid,
      x5t: createHash('sha1')
        .update(Buffer.from(key?.x5c?.[0] ?? '', 'base64'))
        .digest('base64url'),
      jku: `https://${HOST}/.well-known/jwks.json`,
    });
    expect(JSON.parse(Buffer.from(jws.payload).toString())).toEqual({
      calendario: {
        criacao: expect.stringMatching(/Z$/),
        apresentacao: expect.stringMatching(/Z$/),
        expiracao: 3_600,
      },
      devedor: { cpf: '52998224725', nome: 'Maria da Silva' },
      txid,
      revisao: 0,
      status: 'ATIVA',
      valor: { original: '10.00', modalidadeAlteracao: 0 },
      chave: TEST_ACCOUNT.pixKey,
      solicitacaoPagador: 'Pedido 1',
    });
  });

  it('of no charge is not found', async () => {
    const path = '/qr/v2/6f1c2f7e-4e0a-4d8f-9d63-0a3a6a5f8f10';
    expect(await problemAt(path)).toEqual([404, PROBLEM, NOT_FOUND]);
  });

  it('is gone once its charge is paid, removed or expired', async () => {
    const [paid, removed, expired] = [await issue(), await issue(), await issue()];
    await simulator.call('POST', `/control/charges/${paid.txid}/pay`);
    await simulator.client().cancelCharge(removed.txid);
    expect(await problemAt(paid.path)).toEqual([410, PROBLEM, NOT_FOUND]);
    expect(await problemAt(removed.path)).toEqual([410, PROBLEM, NOT_FOUND]);
    await simulator.call('POST', '/control/clock', { advance_seconds: 3_601 });
    expect(await problemAt(expired.path)).toEqual([410, PROBLEM, NOT_FOUND]);
  });
});

describe('a payment by the text of a BR Code', () => {
  it('pays its charge, once', async () => {
    const { txid, code } = await issue();
    const paid = await payCode(` ${code} `);
    expect(paid).toEqual({
      status: 201,
      body: {
        end_to_end_id: expect.stringMatching(/^E/),
        txid,
        amount: 1_000,
        paid_at: expect.any(String),
        notices: 1,
        payload: expect.objectContaining({ txid, status: 'ATIVA' }),
      },
    });
    const endToEndId = String(paid.body['end_to_end_id']);
    expect(await simulator.client().getCharge(txid)).toMatchObject({
      value: { status: 'settled', received: [{ endToEndId, amountCents: 1_000n }] },
    });
    expect(await journalOfPix(simulator, endToEndId)).toMatchObject([{ kind: 'paid' }]);
    await eventually(async () => {
      const wanted = expect.objectContaining({ endToEndId, txid });
      expect(await listItems(simulator)).toContainEqual(wanted);
    }, PATIENT_MS);
    expect(await payCode(code)).toEqual({
      status: 409,
      body: { code: 'CONFLICT', message: 'location: it answers 410', details: ['location'] },
    });
  });

  it.each([
    ['a text that is none', 'hello', 'br_code'],
    ['a wrong CRC', STATIC_CODE.replace('1D3D', '1D3E'), 'CRC does not match'],
    ['a static code', STATIC_CODE, 'static'],
  ])('is refused for %s', async (_, code, reason) => {
    expect(await payCode(code)).toEqual({
      status: 400,
      body: {
        code: 'VALIDATION_ERROR',
        message: expect.stringContaining(reason),
        details: ['br_code'],
      },
    });
  });

  it('is refused without a text', async () => {
    expect((await simulator.call('POST', '/control/payments', {})).body).toMatchObject({
      details: ['br_code'],
    });
  });
});
