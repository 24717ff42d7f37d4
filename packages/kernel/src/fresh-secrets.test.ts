import { expect, test } from 'vitest';

import { createInstallationSecrets } from './fresh-secrets.ts';
import { openSecret, sealSecret } from './sealed-secret.ts';

test('no two secrets of an installation are alike, nor those of two installations', () => {
  const texts = [createInstallationSecrets(), createInstallationSecrets()].flatMap(
    ({ sealing, ...others }) => [...Object.values(others), ...Object.values(sealing)],
  );
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) expect(text.length).toBeGreaterThanOrEqual(32);
});

test('what is sealed to an installation opens with its private keys', () => {
  const { sealing } = createInstallationSecrets();
  const sealed = sealSecret(sealing.publicKey, 'whsec_1', 'account:resource');
  expect(openSecret(sealing.privateKeys, sealed, 'account:resource')).toBe('whsec_1');
});
