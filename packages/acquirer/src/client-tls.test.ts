import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

import {
  type Authority,
  type Certificate,
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
} from '@pixmesh/certificates/authority';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type ClientTls, createAcquirer } from './client.ts';
import { json, startTestProvider, type TestProvider } from './testing/test-provider.ts';

const TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;

function validFor(fromDays: number, toDays: number) {
  const at = (days: number): Date => new Date(Date.now() + days * DAY_MS);
  return { notBefore: at(fromDays), notAfter: at(toDays) };
}

const NOW_VALID = validFor(-1, 1);
const EXPIRED = validFor(-2, -1);
const NOT_YET = validFor(1, 2);

let authority: Authority;
let stranger: Authority;
let client: Certificate;
beforeAll(async () => {
  authority = await makeAuthority('acquirer', NOW_VALID);
  stranger = await makeAuthority('acquirer', NOW_VALID);
  client = await issueClientCertificate(authority, 'pixmesh', NOW_VALID);
});

let provider: TestProvider;
afterEach(async () => {
  await provider[Symbol.asyncDispose]();
});

async function startProvider(server?: Certificate): Promise<void> {
  const own = server ?? (await issueServerCertificate(authority, ['127.0.0.1'], NOW_VALID));
  provider = await startTestProvider({ ca: authority.cert, ...own });
  provider.answerCall = (_, response) => json(response, 200, { saldo: '1.00' });
}

async function askBalance(tls?: ClientTls) {
  await using acquirer = provider.connect(TIMEOUT_MS, tls);
  return await acquirer.balance();
}

const NOT_SENT = { kind: 'unknown', cause: 'token_connection' };

function expectNothingReceived(): void {
  expect(provider.tokensIssued).toBe(0);
  expect(provider.calls).toEqual([]);
}

describe('a provider that asks for client certificates', () => {
  it('is called with ours', async () => {
    await startProvider();
    expect(await askBalance({ ca: authority.cert, ...client })).toMatchObject({ kind: 'found' });
  });

  it.each<[string, () => Promise<ClientTls | undefined>]>([
    ['no certificate', async () => undefined],
    [
      'a certificate of somebody else',
      async () => ({
        ca: authority.cert,
        ...(await issueClientCertificate(stranger, 'pixmesh', NOW_VALID)),
      }),
    ],
    [
      'an expired certificate',
      async () => ({
        ca: authority.cert,
        ...(await issueClientCertificate(authority, 'pixmesh', EXPIRED)),
      }),
    ],
    [
      'a certificate of tomorrow',
      async () => ({
        ca: authority.cert,
        ...(await issueClientCertificate(authority, 'pixmesh', NOT_YET)),
      }),
    ],
    [
      'a certificate for servers',
      async () => ({
        ca: authority.cert,
        ...(await issueServerCertificate(authority, ['127.0.0.1'], NOW_VALID)),
      }),
    ],
  ])('gets nothing from a client with %s', async (_, makeTls) => {
    await startProvider();
    expect(await askBalance(await makeTls())).toEqual(NOT_SENT);
    expectNothingReceived();
  });

  it.each<[string, () => Promise<Certificate>]>([
    ['another authority', () => issueServerCertificate(stranger, ['127.0.0.1'], NOW_VALID)],
    ['yesterday', () => issueServerCertificate(authority, ['127.0.0.1'], EXPIRED)],
    ['another host', () => issueServerCertificate(authority, ['example.com'], NOW_VALID)],
  ])('is not believed with a certificate of %s: no credentials are sent', async (_, makeServer) => {
    await startProvider(await makeServer());
    expect(await askBalance({ ca: authority.cert, ...client })).toEqual(NOT_SENT);
    expectNothingReceived();
  });

  it('is not believed by authorities of the machine where we name ours', async () => {
    await startProvider();
    expect(await askBalance({ ca: stranger.cert, ...client })).toEqual(NOT_SENT);
    expectNothingReceived();
  });
});

describe('an https URL', () => {
  it('is never spoken to in clear', async () => {
    provider = await startTestProvider();
    const received: Buffer[] = [];
    const listener = createServer((socket) => {
      socket.on('data', (chunk: Buffer) => {
        received.push(chunk);
        socket.destroy();
      });
      socket.on('error', () => undefined);
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const url = `https://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const config = { url, clientId: 'client', clientSecret: 'secret', pixKey: 'key' };
    await using acquirer = createAcquirer({ ...config, timeoutMs: TIMEOUT_MS });
    expect(await acquirer.balance()).toEqual(NOT_SENT);
    listener.close();
    const TLS_HANDSHAKE = 0x16;
    expect(received[0]?.[0]).toBe(TLS_HANDSHAKE);
    expect(Buffer.concat(received).toString('latin1')).not.toContain('oauth');
  });

  it('is what a certificate asks for', async () => {
    provider = await startTestProvider();
    expect(() => provider.connect(TIMEOUT_MS, { ca: authority.cert, ...client })).toThrow(
      'a certificate needs an https URL',
    );
  });
});
