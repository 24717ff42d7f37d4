import { generateSealingKeyPair, openSecret, sealSecret } from '@pixmesh/kernel/sealed-secret';
import { expect, test } from 'vitest';

import { readSealingRing } from './sealing-ring.ts';

function ringOf(...versions: string[]): string {
  const pairs = versions.map((version) => generateSealingKeyPair(version).privateKeys);
  return JSON.stringify(Object.assign({}, ...pairs.map((text) => JSON.parse(text) as object)));
}

test.each([
  { versions: ['v1'], newest: 'v1', older: [] },
  { versions: ['v2', 'v1'], newest: 'v2', older: ['v1'] },
  { versions: ['v10', 'v9', 'v2'], newest: 'v10', older: ['v2', 'v9'] },
  { versions: ['2', '10', '1'], newest: '10', older: ['1', '2'] },
  { versions: ['2027-01', '2026-11'], newest: '2027-01', older: ['2026-11'] },
  { versions: ['v01', 'v1'], newest: 'v1', older: ['v01'] },
])('the newest key is the one that people would call so: $versions', (given) => {
  const ring = readSealingRing(ringOf(...given.versions));
  expect(ring.newestPublicKey.split(':')[0]).toBe(given.newest);
  expect(ring.newestVersion).toBe(given.newest);
  expect(ring.olderVersions).toEqual(given.older);
});

test('what is sealed to the public key of the ring opens with its private keys', () => {
  const ring = readSealingRing(ringOf('v1', 'v2'));
  const sealed = sealSecret(ring.newestPublicKey, 'whsec_0123456789', 'account/endpoint');
  expect(sealed).toMatch(/^sealed\.v1\.v2\./);
  expect(openSecret(ring.privateKeys, sealed, 'account/endpoint')).toBe('whsec_0123456789');
});
