import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { expect, test } from 'vitest';

import { brokerAccess } from './broker-access.ts';
import { createTokenProvider } from './oauth-token.ts';

const IDENTITY = { current: () => ({ ca: 'ca', cert: 'cert', key: 'key' }) };
const BROKERS = { KAFKA_BROKERS: ['a:9092'] };
const LOGIN = { KAFKA_SASL_USERNAME: 'charges', KAFKA_SASL_PASSWORD: 'secret' };

test('by default a service shows the certificate that it has at the moment', () => {
  const { security } = brokerAccess({ ...BROKERS, KAFKA_SECURITY: 'mtls' }, IDENTITY);
  expect(security).toEqual({ kind: 'mtls', identity: IDENTITY });
});

test.each([
  ['SCRAM-SHA-256', 'scram-sha-256'],
  ['SCRAM-SHA-512', 'scram-sha-512'],
  ['PLAIN', 'plain'],
] as const)('%s goes out by TLS with user and password', (mechanism, name) => {
  const settings = { ...BROKERS, ...LOGIN, KAFKA_SASL_MECHANISM: mechanism };
  const { security } = brokerAccess({ ...settings, KAFKA_SECURITY: 'tls' }, IDENTITY);
  const sasl = { mechanism: name, username: 'charges', password: 'secret' };
  expect(security).toEqual({ kind: 'tls', ca: undefined, sasl });
});

test.each([
  ['KAFKA_SASL_USERNAME', { KAFKA_SASL_PASSWORD: 'secret' }],
  ['KAFKA_SASL_PASSWORD', { KAFKA_SASL_USERNAME: 'charges' }],
  ['KAFKA_SASL_TOKEN_URL', LOGIN],
])('a mechanism without %s ends the start with one line that names it', (name, given) => {
  const settings = { ...BROKERS, ...given, KAFKA_SASL_MECHANISM: 'OAUTHBEARER' } as const;
  expect(() => brokerAccess({ ...settings, KAFKA_SECURITY: 'tls' }, IDENTITY)).toThrow(
    `${name}: expected beside OAUTHBEARER`,
  );
});

test('a token is asked for by client credentials, and a refusal never shows the secret', async () => {
  const asked: { authorization: string | undefined; form: string }[] = [];
  const answer = async (request: IncomingMessage): Promise<[number, object]> => {
    asked.push({ authorization: request.headers.authorization, form: await text(request) });
    return request.url === '/token' ? [200, { access_token: 'a.b.c' }] : [401, {}];
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) =>
      response.writeHead(status).end(JSON.stringify(body)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { id: 'charges', secret: 'a secret', scope: 'kafka' };
  try {
    expect(await createTokenProvider(`${url}/token`, client)()).toEqual({ value: 'a.b.c' });
    expect(asked).toEqual([
      {
        authorization: `Basic ${Buffer.from('charges:a%20secret').toString('base64')}`,
        form: 'grant_type=client_credentials&scope=kafka',
      },
    ]);
    await expect(createTokenProvider(`${url}/other`, client)()).rejects.toThrow(
      `${url}/other answered 401`,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
