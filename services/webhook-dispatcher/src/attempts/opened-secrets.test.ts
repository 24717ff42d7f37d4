import { generateSealingKeyPair, sealSecret } from '@pixmesh/kernel/sealed-secret';
import { SealedSecretError } from '@pixmesh/kernel/sealed-secret-keys';
import { expect, test } from 'vitest';

import { createOpenedSecrets } from './opened-secrets.ts';

const keys = generateSealingKeyPair();

test('a secret is opened for its owner, again and again, and never for another one', () => {
  const secrets = createOpenedSecrets(keys.privateKeys);
  const sealed = sealSecret(keys.publicKey, 'whsec_1', 'account/resource');
  expect(() => secrets.open(sealed, 'account/other')).toThrow(SealedSecretError);
  expect(secrets.open(sealed, 'account/resource')).toBe('whsec_1');
  expect(secrets.open(sealed, 'account/resource')).toBe('whsec_1');
  // Also once it is known.
  expect(() => secrets.open(sealed, 'account/other')).toThrow(SealedSecretError);
});

test('another secret of the same owner is another one', () => {
  const secrets = createOpenedSecrets(keys.privateKeys);
  const [old, next] = ['whsec_1', 'whsec_2'].map((text) => sealSecret(keys.publicKey, text, 'a/b'));
  expect([secrets.open(old!, 'a/b'), secrets.open(next!, 'a/b')]).toEqual(['whsec_1', 'whsec_2']);
});
