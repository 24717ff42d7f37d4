import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { buildDynamicBrCode } from '@pixmesh/acquirer/br-code-writer';
import { AppError } from '@pixmesh/kernel/app-error';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { createPayloadSigner, type PayloadSigner } from '#payloads/payload-signer.ts';

import { readChargeByCode } from './read-charge.ts';

const HOST = 'qr.example.com';
const JKU = `https://${HOST}/keys`;
const LOCATION = `${HOST}/v2/1`;
const CODE = codeOf(LOCATION);
const STATIC_CODE =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR' +
  '5913Fulano de Tal6008BRASILIA62070503***63041D3D';
const PAYLOAD = {
  calendario: {
    criacao: '2026-11-21T12:00:00.000Z',
    apresentacao: '2026-11-21T12:01:00.000Z',
    expiracao: 3600,
  },
  devedor: { cpf: '52998224725', nome: 'Maria' },
  txid: 'a'.repeat(32),
  revisao: 0,
  status: 'ATIVA',
  valor: { original: '10.50' },
  chave: 'pix@example.com',
};
const SECOND_KEY = { kid: 'rsa', kty: 'RSA', x5t: 'x', x5c: ['MAo='] };

/** What the host answers, by path; a test changes what it is about. */
type Page = { status: number; type: string; body: string };
const pages = new Map<string, Page>();
const server = createServer((request, response) => {
  const page = request.headers.host === HOST ? pages.get(request.url ?? '') : undefined;
  const { status, type, body } = page ?? { status: 421, type: 'text/plain', body: '' };
  response.writeHead(status, { 'content-type': type }).end(body);
});
const signer = createPayloadSigner(HOST, JKU);

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  await serve(await signer.sign(PAYLOAD), await signer.keySet());
});
afterEach(() => {
  vi.useRealTimers();
});

async function serve(jws: string, keys: unknown): Promise<void> {
  pages.set('/v2/1', { status: 200, type: 'application/jose', body: jws });
  pages.set('/keys', { status: 200, type: 'application/json', body: JSON.stringify(keys) });
}

function codeOf(location: string): string {
  const code = buildDynamicBrCode({ location, merchantName: 'LOJA', merchantCity: 'RIO' });
  if (code === null) throw new Error('the location cannot be written');
  return code;
}

async function read(code = CODE) {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return await readChargeByCode((host) => (host === HOST ? origin : null), code);
}

/** The step at which it ends, with the reason. */
async function failure(code = CODE): Promise<[unknown, string]> {
  const error = await read(code).then(
    () => 'it was read',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(String(error));
  return [error.details[0], error.publicMessage];
}

type Key = Record<string, unknown>;
async function keyOf(one: PayloadSigner): Promise<Key> {
  return ((await one.keySet()) as { keys: [Key] }).keys[0];
}

function withHeader(header: object): string {
  const [, payload, signature] = ['', 'e30', 'AAAA'];
  return [Buffer.from(JSON.stringify(header)).toString('base64url'), payload, signature].join('.');
}

describe('a charge by its BR Code', () => {
  it('is read from the signed payload alone', async () => {
    const key = await keyOf(signer);
    await serve(await signer.sign(PAYLOAD), { keys: [SECOND_KEY, { kty: 'EC' }, key] });
    expect(await read()).toEqual({ txid: PAYLOAD.txid, amountCents: 1_050n, payload: PAYLOAD });
  });

  it.each(['', 'hello', LOCATION, `https://${LOCATION}`])(
    'is not read from a text that is no code: %s',
    async (text) => {
      expect((await failure(text))[0]).toBe('br_code');
    },
  );

  it('is not read from a code with one character changed', async () => {
    expect(await failure(CODE.replace('LOJA', 'LOJB'))).toEqual([
      'br_code',
      'br_code: CRC does not match',
    ]);
  });

  it('is not read from a static code', async () => {
    expect(await failure(STATIC_CODE)).toEqual(['br_code', expect.stringContaining('static')]);
  });

  it.each([
    ['whose host is not reached', codeOf('pix.example.org/v2/1'), 'pix.example.org is not reached'],
    ['of a path that its host does not have', codeOf(`${HOST}/v2/2`), 'it answers 421'],
  ])('is not read from a code %s', async (_, code, reason) => {
    expect(await failure(code)).toEqual(['location', expect.stringContaining(reason)]);
  });

  it.each([404, 410, 500])('is not read where the location answers %i', async (status) => {
    pages.set('/v2/1', { status, type: 'application/problem+json', body: '{}' });
    expect(await failure()).toEqual(['location', `location: it answers ${status}`]);
  });

  it.each([
    ['HTML', { type: 'text/html', body: '<html>' }],
    ['an unsigned payload', { type: 'application/json', body: JSON.stringify(PAYLOAD) }],
    ['what only claims to be a JWS', { type: 'application/jose', body: 'x.y' }],
    ['nothing', { type: 'application/jose', body: '' }],
  ])('is not read from %s', async (_, page) => {
    pages.set('/v2/1', { status: 200, ...page });
    expect((await failure())[0]).toBe('payload');
  });

  it.each([
    ['no txid', { txid: undefined }, 'txid'],
    ['a number as amount', { valor: { original: 10.5 } }, 'valor.original'],
    ['an amount in another form', { valor: { original: '10.5' } }, 'valor.original'],
    ['no key', { chave: '' }, 'chave'],
  ])('is not read from a payload with %s', async (_, change, field) => {
    await serve(await signer.sign({ ...PAYLOAD, ...change }), await signer.keySet());
    expect(await failure()).toEqual(['payload', expect.stringContaining(field)]);
  });

  it('is not paid once it has ended', async () => {
    await serve(await signer.sign({ ...PAYLOAD, status: 'CONCLUIDA' }), await signer.keySet());
    expect(await failure()).toEqual(['charge', 'charge: it is CONCLUIDA']);
  });
});

describe('a signature', () => {
  it('is not believed where the payload was changed', async () => {
    const [header, , signature] = (await signer.sign(PAYLOAD)).split('.');
    const dearer = { ...PAYLOAD, valor: { original: '9999.00' } };
    const changed = Buffer.from(JSON.stringify(dearer)).toString('base64url');
    await serve([header, changed, signature].join('.'), await signer.keySet());
    expect(await failure()).toEqual(['signature', expect.stringContaining('not by the key')]);
  });

  it('is not believed by keys of another host', async () => {
    const other = createPayloadSigner(HOST, 'https://keys.example.org/keys');
    await serve(await other.sign(PAYLOAD), await other.keySet());
    expect(await failure()).toEqual([
      'signature',
      `signature: jku is of keys.example.org, the location of ${HOST}`,
    ]);
  });

  it.each(['kid', 'x5t'])('is not believed without a key of its %s', async (name) => {
    const key = { ...(await keyOf(signer)), [name]: 'another' };
    await serve(await signer.sign(PAYLOAD), { keys: [key] });
    expect(await failure()).toEqual(['signature', expect.stringContaining('no key of jku')]);
  });

  it('is not believed by a key with the names of another one', async () => {
    const [own, forged] = [await keyOf(signer), createPayloadSigner(HOST, JKU)];
    const { x, y, x5c } = await keyOf(forged);
    await serve(await signer.sign(PAYLOAD), { keys: [{ ...own, x5c }] });
    expect(await failure()).toEqual(['signature', expect.stringContaining('x5t')]);
    await serve(await signer.sign(PAYLOAD), { keys: [{ ...own, x, y }] });
    expect(await failure()).toEqual(['signature', expect.stringContaining('its certificate')]);
  });

  it('is not believed by the certificate of another host, or of another time', async () => {
    const foreign = createPayloadSigner('other.example.com', JKU);
    await serve(await foreign.sign(PAYLOAD), await foreign.keySet());
    expect(await failure()).toEqual(['signature', expect.stringContaining('not of qr.example')]);
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2020-01-01T00:00:00Z') });
    const former = createPayloadSigner(HOST, JKU);
    await serve(await former.sign(PAYLOAD), await former.keySet());
    vi.useRealTimers();
    expect(await failure()).toEqual(['signature', expect.stringContaining('does not hold')]);
  });

  it.each([
    ['alg none', { alg: 'none' }],
    ['a symmetric algorithm', { alg: 'HS256' }],
    ['no kid', { kid: undefined }],
    ['no x5t', { x5t: undefined }],
    ['a jku without TLS', { jku: `http://${HOST}/keys` }],
  ])('is not believed with %s', async (_, change) => {
    const { kid, x5t } = await keyOf(signer);
    await serve(withHeader({ alg: 'ES256', kid, x5t, jku: JKU, ...change }), { keys: [] });
    expect(await failure()).toEqual(['signature', expect.stringContaining('the header needs')]);
  });

  it.each([
    ['answers 503', { status: 503, body: '{}' }, 'jku answers 503'],
    ['serves HTML', { status: 200, body: '<html>' }, 'no set of keys'],
  ])('is not believed where jku %s', async (_, page, reason) => {
    pages.set('/keys', { type: 'application/json', ...page });
    expect(await failure()).toEqual(['signature', expect.stringContaining(reason)]);
  });
});
