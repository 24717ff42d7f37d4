import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';

import {
  aCharge,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

import { SCOPES } from './scopes.ts';

let database: TestDatabase;
let simulator: TestSimulator;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function askToken(body: string, secret: string = TEST_ACCOUNT.clientSecret) {
  const answer = await fetch(`${simulator.url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${TEST_ACCOUNT.clientId}:${secret}`)}` },
    body,
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

it.each([
  ['grant_type=client_credentials', SCOPES.join(' ')],
  ['{"grant_type":"client_credentials"}', SCOPES.join(' ')],
  ['grant_type=client_credentials&scope=pix.read+cob.read', 'cob.read pix.read'],
  ['{"grant_type":"client_credentials","scope":"webhook.read"}', 'webhook.read'],
])('%s gives a token that names its scopes', async (body, scope) => {
  expect(await askToken(body)).toMatchObject({
    status: 200,
    body: { token_type: 'Bearer', expires_in: 3600, scope },
  });
});

it.each([
  ['', 'invalid_request'],
  ['{}', 'invalid_request'],
  ['{"grant_type":1}', 'invalid_request'],
  ['grant_type=password', 'unsupported_grant_type'],
  ['grant_type=client_credentials&scope=cobv.read', 'invalid_scope'],
])('%j is 400 %s', async (body, error) => {
  expect(await askToken(body)).toMatchObject({ status: 400, body: { error } });
});

it('asks for the secret before it looks at the grant', async () => {
  const refused = { status: 401, body: { error: 'invalid_client' } };
  expect(await askToken('', 'wrong')).toMatchObject(refused);
});

it('a second secret is taken beside the first, while the client changes it', async () => {
  await using changing = await startTestSimulator(database.url, {
    ACQUIRER_OTHER_CLIENT_SECRET: 'next-secret',
  });
  const tokens = [TEST_ACCOUNT.clientSecret, 'next-secret', 'wrong'].map(async (clientSecret) => {
    const answer = await changing.client({ clientSecret }).getCharge(aCharge().txid);
    return answer.kind;
  });
  expect(await Promise.all(tokens)).toEqual(['not_found', 'not_found', 'unknown']);
});

it('a token without the scope of a route is refused with 403, and an unknown route with 404', async () => {
  const { body } = await askToken('grant_type=client_credentials&scope=cob.read');
  const statusOf = async (method: string, path: string) => {
    const headers = { authorization: `Bearer ${body['access_token']}` };
    const answer = await fetch(`${simulator.url}${path}`, { method, headers });
    const { type = '' } = (await answer.json()) as { type?: string };
    return [answer.status, type.slice(type.lastIndexOf('/') + 1)];
  };
  const { txid } = aCharge();
  expect(await statusOf('GET', `/v2/cob/${txid}`)).toEqual([404, 'CobNaoEncontrado']);
  for (const [method, path] of [
    ['PUT', `/v2/cob/${txid}`],
    ['PATCH', `/v2/cob/${txid}`],
    ['GET', '/v2/pix/E1'],
    ['PUT', '/v3/gn/pix/a1'],
    ['GET', '/v2/gn/saldo'],
    ['POST', '/v2/gn/infracoes/x/defesa'],
    ['DELETE', '/v2/webhook/x'],
  ] as const) {
    expect(await statusOf(method, path)).toEqual([403, 'AcessoNegado']);
  }
  expect(await statusOf('GET', '/v2/loc')).toEqual([404, 'NaoEncontrado']);
});
