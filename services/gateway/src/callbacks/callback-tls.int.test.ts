import { once } from 'node:events';
import { request as requestPlain } from 'node:http';
import { request as requestTls, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';

import {
  type InstallationCertificates,
  makeInstallationCertificates,
} from '@pixmesh/certificates/installation-certificates';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import {
  SIMULATOR_CREDENTIALS,
  type SimulatorProcess,
  startSimulatorProcess,
} from '@pixmesh/testkit/simulator-process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CALLBACK_SECRET, startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

/** In the words of TLS, or of the operating system. */
const REFUSED = /alert|ECONNRESET|EPIPE|socket hang up|self-signed|unable to verify/;
/** A busy machine takes its time. */
const PATIENT_MS = 30_000;
const BODY = '{"pix":[{"endToEndId":"E7001","txid":"tx7001"}]}';

let own: InstallationCertificates;
/** The acquirer's next authority: both are believed while it changes. */
let next: InstallationCertificates;
let foreign: InstallationCertificates;
let gateway: TestGateway;

async function makeCertificates(): Promise<InstallationCertificates> {
  const input = { serverHosts: ['127.0.0.1'], clientName: 'acquirer', now: new Date() };
  return await makeInstallationCertificates(input);
}

beforeAll(async () => {
  own = await makeCertificates();
  next = await makeCertificates();
  foreign = await makeCertificates();
  gateway = await startTestGateway({
    CALLBACK_TLS_CA: `${own.ca}\n${next.ca}`,
    CALLBACK_TLS_CERT: own.server.cert,
    CALLBACK_TLS_KEY: own.server.key,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

async function post(
  open: typeof requestTls,
  options: RequestOptions,
  path = `/acquirer/${CALLBACK_SECRET}/pix`,
): Promise<number | undefined> {
  const { callback: port } = gateway.ports;
  const sent = open({ host: '127.0.0.1', port, path, method: 'POST', agent: false, ...options });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end(BODY);
  const [answer] = await answered;
  answer.resume();
  await once(answer, 'close');
  return answer.statusCode;
}

/** A simulated acquirer with a certificate, and the gateway's address registered there, which it tries first. */
async function startAcquirer(): Promise<SimulatorProcess> {
  const acquirer = await startSimulatorProcess({
    CALLBACK_CLIENT_TLS_CA: own.ca,
    CALLBACK_CLIENT_TLS_CERT: own.client.cert,
    CALLBACK_CLIENT_TLS_KEY: own.client.key,
  });
  const { clientId, clientSecret, pixKey } = SIMULATOR_CREDENTIALS;
  const token = await fetch(`${acquirer.url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await token.json()) as { access_token: string };
  const webhookUrl = `https://127.0.0.1:${gateway.ports.callback}/acquirer/${CALLBACK_SECRET}`;
  const registered = await fetch(`${acquirer.url}/v2/webhook/${pixKey}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${access_token}` },
    body: JSON.stringify({ webhookUrl }),
  });
  expect(registered.status).toBe(200);
  return acquirer;
}

async function countStored(): Promise<number> {
  const [row] = await gateway.database.db.query<{ stored: number }>(
    sql`select count(*)::int as stored from callbacks`,
  );
  return row?.stored ?? 0;
}

describe('a callback where mutual TLS is demanded', () => {
  it('is taken from a caller with a certificate of either authority of the acquirer', async () => {
    expect(await post(requestTls, { ca: own.ca, ...own.client })).toBe(200);
    expect(await post(requestTls, { ca: own.ca, ...next.client })).toBe(200);
    expect(await countStored()).toBe(2);
  });

  it('is what the acquirer finds when it tries the address, and then sends', async () => {
    await using acquirer = await startAcquirer();
    const before = await countStored();
    await acquirer.control('POST', '/control/pix', { amount: 100 });
    await eventually(async () => expect(await countStored()).toBe(before + 1), PATIENT_MS);
  });

  it('still needs the secret in the address', async () => {
    const path = `/acquirer/${'x'.repeat(32)}/pix`;
    expect(await post(requestTls, { ca: own.ca, ...own.client }, path)).toBe(401);
  });

  it('ends at the handshake without a certificate, with a foreign one, and without TLS', async () => {
    const before = await countStored();
    await expect(post(requestTls, { ca: own.ca })).rejects.toThrow(REFUSED);
    await expect(post(requestTls, { ca: own.ca, ...foreign.client })).rejects.toThrow(REFUSED);
    await expect(post(requestPlain, {})).rejects.toThrow(REFUSED);
    expect(await countStored()).toBe(before);
  });
});
