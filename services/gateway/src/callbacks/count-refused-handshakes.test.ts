import { once } from 'node:events';
import { request as requestPlain } from 'node:http';
import { request as requestTls, type RequestOptions } from 'node:https';
import net, { type AddressInfo } from 'node:net';

import { makeInstallationCertificates } from '@pixmesh/certificates/installation-certificates';
import { createServiceApp, fixedTls } from '@pixmesh/http/service-app';
import { createLogger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { countRefusedHandshakes } from './count-refused-handshakes.ts';

const [own, foreign] = await Promise.all(
  ['acquirer', 'stranger'].map((clientName) =>
    makeInstallationCertificates({ serverHosts: ['127.0.0.1'], clientName, now: new Date() }),
  ),
);

let app: FastifyInstance;
let refused = 0;

beforeAll(async () => {
  app = createServiceApp({
    logger: createLogger('gateway', 'silent'),
    listener: 'callbacks',
    mutualTls: fixedTls({ ca: own!.ca, ...own!.server }),
  });
  countRefusedHandshakes(app, () => {
    refused += 1;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
beforeEach(() => {
  refused = 0;
});
afterAll(() => app.close());

const portOf = (): number => (app.server.address() as AddressInfo).port;

/** Calls the listener; resolves when it is answered or ended. */
async function call(open: typeof requestTls, options: RequestOptions): Promise<void> {
  const sent = open({ host: '127.0.0.1', port: portOf(), agent: false, ca: own!.ca, ...options });
  sent.on('response', (answer) => answer.resume());
  sent.end();
  await once(sent, 'close').catch(() => undefined);
}

test.each<[string, typeof requestTls, RequestOptions]>([
  ['without a certificate', requestTls, {}],
  ['with a foreign certificate', requestTls, foreign!.client],
  [
    'with a foreign certificate by TLS 1.2',
    requestTls,
    { ...foreign!.client, maxVersion: 'TLSv1.2' },
  ],
  ['without TLS', requestPlain, {}],
])('a caller %s is counted once', async (_how, open, options) => {
  const ended = once(app.server, 'tlsClientError');
  await call(open, options);
  await ended;
  expect(refused).toBe(1);
});

test('a caller with a certificate of the authority is not counted', async () => {
  await call(requestTls, own!.client);
  expect(refused).toBe(0);
});

test('a connection that sends nothing is not counted', async () => {
  const ended = once(app.server, 'tlsClientError');
  net.connect(portOf(), '127.0.0.1').end().resume();
  await ended;
  expect(refused).toBe(0);
});
