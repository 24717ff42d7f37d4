import { makeInstallationCertificates } from '@pixmesh/certificates/installation-certificates';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startTestSimulator, TEST_ACCOUNT, type TestSimulator } from '#test/test-simulator.ts';

const BASIC = Buffer.from(`${TEST_ACCOUNT.clientId}:${TEST_ACCOUNT.clientSecret}`).toString(
  'base64',
);

/** In the words of TLS, of the operating system, or of the client. */
const CONNECTION_ENDED = /alert|ECONNRESET|EPIPE|socket hang up|other side closed/;

let certificates: Awaited<ReturnType<typeof makeCertificates>>;
let database: TestDatabase;
let simulator: TestSimulator;
let client: Agent;

async function makeCertificates() {
  return await makeInstallationCertificates({
    serverHosts: ['127.0.0.1'],
    clientName: 'test',
    now: new Date(),
  });
}

beforeAll(async () => {
  certificates = await makeCertificates();
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url, {
    TLS_PORT: '0',
    TLS_CERT: certificates.server.cert,
    TLS_KEY: certificates.server.key,
    TLS_CA: certificates.ca,
  });
  client = agent(certificates.client);
});

afterAll(async () => {
  await client.close();
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function agent(certificate: { cert: string; key: string } | Record<string, never>): Agent {
  return new Agent({ connect: { ca: certificates.ca, ...certificate } });
}

async function askForToken(dispatcher: Agent): Promise<Response> {
  const answer = await request(`${simulator.tlsUrl}/oauth/token`, {
    dispatcher,
    method: 'POST',
    headers: { authorization: `Basic ${BASIC}`, 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials' }),
  });
  const body = (await answer.body.json()) as Record<string, unknown>;
  return Response.json(body, { status: answer.statusCode });
}

async function expectNoAnswer(stranger: Agent): Promise<void> {
  await expect(askForToken(stranger)).rejects.toThrow(CONNECTION_ENDED);
  await stranger.close();
}

describe('the API by mutual TLS', () => {
  it('answers a client with a certificate of its authority', async () => {
    const token = await askForToken(client);
    expect(token.status).toBe(200);
    const { access_token } = (await token.json()) as { access_token: string };
    const balance = await request(`${simulator.tlsUrl}/v2/gn/saldo`, {
      dispatcher: client,
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect(await balance.body.json()).toEqual({ saldo: '0.00' });
  });

  it('does not speak to a client without one', async () => {
    await expectNoAnswer(agent({}));
  });

  it('does not speak to a client whose certificate another authority has signed', async () => {
    const others = await makeCertificates();
    await expectNoAnswer(agent(others.client));
  });

  it.each(['/control/clock', '/control/journal', '/'])('has no %s', async (path) => {
    const answer = await request(`${simulator.tlsUrl}${path}`, { dispatcher: client });
    await answer.body.dump();
    expect(answer.statusCode).toBe(404);
  });

  it('ends a connection where a fault says so, and answers the next call', async () => {
    const rules = [{ operation: 'token', fault: 'reset', count: 1 }];
    await simulator.call('PUT', '/control/faults', { rules });
    await expect(askForToken(client)).rejects.toThrow(CONNECTION_ENDED);
    expect((await askForToken(client)).status).toBe(200);
  });

  it('leaves the plain listener as it is', async () => {
    expect((await simulator.call('GET', '/control/clock')).status).toBe(200);
  });
});
