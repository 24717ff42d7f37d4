import { once } from 'node:events';
import { request as requestPlain } from 'node:http';
import { request as requestTls, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';

import {
  type InstallationCertificates,
  makeInstallationCertificates,
} from '@pixmesh/certificates/installation-certificates';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CALLBACK_SECRET, startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

/** In the words of TLS, or of the operating system. */
const REFUSED = /alert|ECONNRESET|EPIPE|socket hang up|self-signed|unable to verify/;
const BODY = '{"pix":[{"endToEndId":"E7001","txid":"tx7001"}]}';

let own: InstallationCertificates;
let foreign: InstallationCertificates;
let gateway: TestGateway;

async function makeCertificates(): Promise<InstallationCertificates> {
  const input = { serverHosts: ['127.0.0.1'], clientName: 'acquirer', now: new Date() };
  return await makeInstallationCertificates(input);
}

beforeAll(async () => {
  own = await makeCertificates();
  foreign = await makeCertificates();
  gateway = await startTestGateway({
    CALLBACK_TLS_CA: own.ca,
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

async function countStored(): Promise<number> {
  const [row] = await gateway.database.db.query<{ stored: number }>(
    sql`select count(*)::int as stored from callbacks`,
  );
  return row?.stored ?? 0;
}

describe('a callback where mutual TLS is demanded', () => {
  it('is taken from a caller with a certificate of the acquirer’s authority', async () => {
    expect(await post(requestTls, { ca: own.ca, ...own.client })).toBe(200);
    expect(await countStored()).toBe(1);
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
