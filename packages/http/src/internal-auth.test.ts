import { aCaller, createTokenKeys } from '@pixmesh/testkit/test-tokens';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { callerOf, requireServiceToken } from './internal-auth.ts';
import { createServiceApp } from './service-app.ts';
import { createTokenSigner, createTokenVerifier } from './service-token.ts';

const { privateKeys, publicKeys } = createTokenKeys(['gateway']);
const sign = await createTokenSigner(privateKeys['gateway'] ?? {});
const app = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
requireServiceToken(app, createTokenVerifier('charges', publicKeys));
app.get('/caller', async (request) => callerOf(request));

test('the tenant of a request is the one its token names', async () => {
  const caller = aCaller();
  expect((await call('/caller', await sign('charges', caller))).json()).toEqual(caller);
});

test.each([
  ['without a token', async () => undefined, '/caller'],
  ['with a token for another service', () => sign('ledger', aCaller()), '/caller'],
  ['of a service for itself, where a tenant is needed', () => sign('charges', null), '/caller'],
  ['to an unknown route without a token', async () => undefined, '/nothing'],
])('a request %s is refused', async (_what, token, url) => {
  const answer = await call(url, await token());
  expect(answer.statusCode).toBe(401);
  expect(answer.json()).toMatchObject({ code: 'UNAUTHORIZED', details: [] });
});

async function call(url: string, token: string | undefined) {
  return await app.inject({
    url,
    headers: token === undefined ? {} : { 'x-pixmesh-token': token },
  });
}
