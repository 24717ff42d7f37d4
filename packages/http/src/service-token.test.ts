import { generateKeyPairSync } from 'node:crypto';

import { aCaller, createTokenKeys } from '@pixmesh/testkit/test-tokens';
import { type JWK, SignJWT, UnsecuredJWT, importJWK } from 'jose';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { readConfig } from '@pixmesh/service/config';
import { createTokenSigner, createTokenVerifier, TokenKeysConfig } from './service-token.ts';

const { privateKeys, publicKeys } = createTokenKeys(['gateway', 'charges', 'ledger']);
const verify = createTokenVerifier('charges', publicKeys);
const signAsGateway = await createTokenSigner(jwkOf('gateway'));
const claims = aCaller();

test('a peer says on whose behalf it calls, or that it calls for itself', async () => {
  expect(await verify(await signAsGateway('charges', claims))).toEqual(claims);
  expect(await verify(await signAsGateway('charges', null))).toBeNull();
});

test('a service’s own calls share a token for a while, each audience its own; a tenant’s never do', async () => {
  const sign = await createTokenSigner(jwkOf('gateway'));
  const own = await Promise.all([sign('charges', null), sign('charges', null)]);
  expect(new Set(own).size).toBe(1);
  expect(await sign('ledger', null)).not.toBe(own[0]);
  const other = { ...claims, request_id: 'another' };
  expect(await sign('charges', other)).not.toBe(await sign('charges', claims));
});

const forgeries: [string, () => Promise<string | undefined> | string | undefined][] = [
  ['missing', () => undefined],
  ['empty', () => ''],
  ['nonsense', () => 'a.b.c'],
  ['meant for another service', () => signAsGateway('ledger', claims)],
  ['unsigned', () => new UnsecuredJWT(payload()).setIssuedAt().setExpirationTime('60s').encode()],
  ['signed by a key that nobody knows', () => sign(strangerKey(), { kid: 'gateway' })],
  ['signed by a peer under the name of another', () => sign(jwkOf('ledger'), { kid: 'gateway' })],
  ['issued in the name of another', () => sign(jwkOf('ledger'), { kid: 'ledger' })],
  ['without key id', () => sign(jwkOf('gateway'), {})],
  ['expired', () => sign(jwkOf('gateway'), { kid: 'gateway' }, { iat: -120, exp: -60 })],
  [
    'valid for longer than allowed',
    () => sign(jwkOf('gateway'), { kid: 'gateway' }, { iat: -120, exp: 600 }),
  ],
  ['from the future', () => sign(jwkOf('gateway'), { kid: 'gateway' }, { iat: 120, exp: 180 })],
  ['without claims', () => sign(jwkOf('gateway'), { kid: 'gateway' }, { iat: 0, exp: 60 }, {})],
  ['with a body cut off', async () => (await signAsGateway('charges', claims)).slice(0, -20)],
  ['with claims changed', async () => withClaims(await signAsGateway('charges', claims))],
];

test.each(forgeries)('a token that is %s is refused, vaguely', async (_what, token) => {
  await expect(verify(await token())).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
    publicMessage: 'Authentication failed.',
  });
});

test('a symmetric signature made with the public key is no signature', async () => {
  const secret = Buffer.from(JSON.stringify(publicKeys.keys[0]));
  const token = await new SignJWT(payload())
    .setProtectedHeader({ alg: 'HS256', kid: 'gateway' })
    .setIssuedAt()
    .setExpirationTime('60s')
    .sign(secret);
  await expect(verify(token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});

test('keys are read from the environment, and a wrong one is named without its content', () => {
  const Config = z.object(TokenKeysConfig);
  const env = {
    SERVICE_TOKEN_PRIVATE_KEY: JSON.stringify(jwkOf('charges')),
    SERVICE_TOKEN_PUBLIC_KEYS: JSON.stringify(publicKeys),
  };
  expect(readConfig(Config, env).SERVICE_TOKEN_PUBLIC_KEYS).toEqual(publicKeys);
  const x25519 = {
    ...generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' }),
    kid: 'charges',
  };
  for (const wrong of [
    '{',
    '[]',
    '{"kty":"RSA"}',
    JSON.stringify(publicKeys.keys[0]),
    JSON.stringify(x25519),
  ]) {
    expect(() => readConfig(Config, { ...env, SERVICE_TOKEN_PRIVATE_KEY: wrong })).toThrow(
      /^SERVICE_TOKEN_PRIVATE_KEY: expected an Ed25519 private JWK with kid$/,
    );
  }
});

function payload() {
  return { iss: 'gateway', aud: 'charges', caller: claims };
}

async function sign(
  jwk: JWK,
  header: { kid?: string },
  seconds: { iat: number; exp: number } = { iat: 0, exp: 60 },
  body: object = { caller: claims },
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return await new SignJWT({ ...body })
    .setProtectedHeader({ alg: 'EdDSA', ...header })
    .setIssuer('gateway')
    .setAudience('charges')
    .setIssuedAt(now + seconds.iat)
    .setExpirationTime(now + seconds.exp)
    .sign(await importJWK(jwk, 'EdDSA'));
}

function jwkOf(service: string): JWK {
  const jwk = privateKeys[service];
  if (!jwk) throw new Error(`no key of ${service}`);
  return jwk;
}

function strangerKey(): JWK {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
}

function withClaims(token: string): string {
  const [head, , signature] = token.split('.');
  const other = { ...payload(), caller: aCaller(), exp: Math.floor(Date.now() / 1000) + 60 };
  return [head, Buffer.from(JSON.stringify(other)).toString('base64url'), signature].join('.');
}
