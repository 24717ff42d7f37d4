import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import {
  type InstallationCertificates,
  makeInstallationCertificates,
} from '@pixmesh/certificates/installation-certificates';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  aPaidCharge,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

/** A busy machine takes its time. */
const PATIENT_MS = 30_000;

/** A callback URL that asks for certificates, as a product's edge does. */
type Product = { url: string; requests: string[]; refusals: number; close(): Promise<void> };

let own: InstallationCertificates;
let foreign: InstallationCertificates;
let product: Product;
let database: TestDatabase;

async function makeCertificates(): Promise<InstallationCertificates> {
  const input = { serverHosts: ['127.0.0.1'], clientName: 'acquirer', now: new Date() };
  return await makeInstallationCertificates(input);
}

async function startProduct(): Promise<Product> {
  const tls = { ...own.server, ca: own.ca, requestCert: true, rejectUnauthorized: true };
  const server = createServer(tls, (request, response) => {
    started.requests.push(`${request.method} ${request.url}`);
    request.resume();
    response.end('{}');
  });
  server.on('tlsClientError', () => {
    started.refusals += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const started: Product = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    refusals: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return started;
}

beforeAll(async () => {
  own = await makeCertificates();
  foreign = await makeCertificates();
  database = await createTestDatabase('acquirer_simulator');
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  product = await startProduct();
});
afterEach(async () => {
  await product.close();
});

async function startWith(client: { cert: string; key: string }): Promise<TestSimulator> {
  return await startTestSimulator(database.url, {
    CALLBACK_CLIENT_TLS_CA: own.ca,
    CALLBACK_CLIENT_TLS_CERT: client.cert,
    CALLBACK_CLIENT_TLS_KEY: client.key,
  });
}

async function register(simulator: TestSimulator, webhookUrl: string, headers: object = {}) {
  const answer = await fetch(`${simulator.url}/v2/webhook/${TEST_ACCOUNT.pixKey}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${await simulator.token()}`, ...headers },
    body: JSON.stringify({ webhookUrl }),
  });
  const body = (await answer.json()) as { nome?: string };
  return { status: answer.status, name: body.nome };
}

describe('a callback to a URL that asks for certificates', () => {
  it('arrives with the provider’s certificate, after a registration that has tried both ways', async () => {
    await using simulator = await startWith(own.client);
    const url = `${product.url}/callbacks?hmac=abc&ignorar=`;
    expect(await register(simulator, url)).toEqual({ status: 200, name: undefined });
    expect(product.requests).toEqual(['POST /callbacks?hmac=abc&ignorar=']);
    expect(product.refusals).toBe(1);
    await aPaidCharge(simulator);
    // `/pix` is added at the end, whatever the URL ends in.
    await eventually(
      () => expect(product.requests[1]).toBe('POST /callbacks?hmac=abc&ignorar=/pix'),
      PATIENT_MS,
    );
  });

  it('never arrives with a certificate of another authority', async () => {
    await using simulator = await startWith(foreign.client);
    const skip = { 'x-skip-mtls-checking': 'true' };
    expect((await register(simulator, `${product.url}/callbacks`, skip)).status).toBe(200);
    await aPaidCharge(simulator);
    await eventually(() => expect(product.refusals).toBeGreaterThan(1), PATIENT_MS);
    expect(product.requests).toEqual([]);
    expect(await register(simulator, `${product.url}/callbacks`)).toEqual({
      status: 400,
      name: 'webhook_invalido',
    });
  });

  it('is not registered for a URL that answers anyone, unless that is asked for', async () => {
    await using simulator = await startWith(own.client);
    const url = `${simulator.receiverUrl}/callbacks`;
    expect(await register(simulator, url)).toEqual({ status: 400, name: 'webhook_invalido' });
    const skip = { 'x-skip-mtls-checking': 'true' };
    expect(await register(simulator, url, skip)).toEqual({ status: 200, name: undefined });
  });
});
