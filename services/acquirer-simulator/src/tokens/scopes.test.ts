import { registeredRoutes } from '@pixmesh/http/testing/registered-routes';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { buildSimulatorApp, type SimulatorDeps } from '../app.ts';
import { createAccessTokens } from './access-token.ts';
import { readScopes, SCOPES, scopeOf } from './scopes.ts';

function build() {
  const logger = createLogger('acquirer-simulator', 'silent');
  return buildSimulatorApp({ logger, clientSecret: 'x', host: '127.0.0.1' } as SimulatorDeps);
}

test('every route of the provider asks for a scope that tokens can have', async () => {
  const routes = (await registeredRoutes(build)).filter((route) => / \/v\d\//.test(route));
  expect(routes.length).toBeGreaterThan(10);
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    expect({ route, scope: scopeOf(method, path) }).toEqual({
      route,
      scope: expect.toBeOneOf([...SCOPES]) as string,
    });
  }
  expect(scopeOf('GET', '/v2/cobv/:txid')).toBeNull();
});

test('a request for a token names all of its scopes, or none and has all', () => {
  expect(readScopes(null)).toEqual(SCOPES);
  expect(readScopes('pix.read cob.read')).toEqual(['cob.read', 'pix.read']);
  expect(readScopes('pix.read  pix.read')).toEqual(['pix.read']);
  for (const wrong of ['', ' ', 'cobv.read', 'pix.read cobv.read', 'PIX.READ']) {
    expect(readScopes(wrong)).toBeNull();
  }
});

test('a token says what it allows, and no other text does', () => {
  const tokens = createAccessTokens('secret');
  const token = tokens.issue(['cob.read', 'pix.read']);
  expect(tokens.read(token)).toEqual(['cob.read', 'pix.read']);
  const [end = '', , mac = ''] = token.split('.');
  const wider = Buffer.from('cob.read pix.send').toString('base64url');
  for (const forged of [`${end}.${wider}.${mac}`, `9${token}`, `${end}..${mac}`, '', 'x']) {
    expect(tokens.read(forged)).toBeNull();
  }
  expect(createAccessTokens('other').read(token)).toBeNull();
});
