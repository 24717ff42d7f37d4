import { generateKeyPairSync } from 'node:crypto';

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { generateSealingKeyPair, openSecret, sealSecret } from './sealed-secret.ts';
import {
  isSealingPrivateKeys,
  isSealingPublicKey,
  SealedSecretError,
} from './sealed-secret-keys.ts';

const CONTEXT = 'account-1:charge-1';
const SECRET = 'whsec_test_0001';
const { publicKey, privateKeys } = generateSealingKeyPair();

/** Sealed once and kept: stored texts must stay readable for ever. */
const KEPT = {
  privateKeys: '{"2026-11":"MC4CAQAwBQYDK2VuBCIEIMBCkGOFDG25YLNozChtez06jl4wLIzT6ITd-BXL8ehT"}',
  sealed:
    'sealed.v1.2026-11.LJ9ErEg-7gqfshlUVaeQlmnSWqdKjGMWgHs8DTmpfng.CUF9wTZTcTN7DSLC.-AFuYWRxsEHVnyNjV8R2lwtcRjGiD5uVqWj0ki3IvLopLIE',
};

describe('round trip', () => {
  test('any well-formed secret comes back, and its text never shows in the sealed form', () => {
    const secret = fc.string({ unit: 'grapheme', maxLength: 255 });
    fc.assert(
      fc.property(secret, fc.string({ unit: 'grapheme', maxLength: 80 }), (text, context) => {
        const sealed = sealSecret(publicKey, text, context);
        expect(openSecret(privateKeys, sealed, context)).toBe(text);
        expect(text.length >= 8 && sealed.includes(text)).toBe(false);
      }),
    );
  });

  test('the same secret is sealed differently every time', () => {
    const sealed = Array.from({ length: 50 }, () => sealSecret(publicKey, SECRET, CONTEXT));
    expect(new Set(sealed.map((text) => text.split('.')[3])).size).toBe(50);
    expect(new Set(sealed.map((text) => text.split('.')[4])).size).toBe(50);
  });

  test('the text has the published form', () => {
    expect(sealSecret(publicKey, SECRET, CONTEXT)).toMatch(
      /^sealed\.v1\.v1\.[\w-]{43}\.[\w-]{16}\.[\w-]{42}$/,
    );
  });

  test('a text sealed by an earlier release still opens', () => {
    expect(openSecret(KEPT.privateKeys, KEPT.sealed, CONTEXT)).toBe('çhave-segreda 🙂');
  });
});

describe('a text that was changed or moved', () => {
  const sealed = sealSecret(publicKey, SECRET, CONTEXT);

  test('does not open for another account or resource', () => {
    for (const context of ['', 'account-2:charge-1', 'account-1:charge-2', `${CONTEXT}.`]) {
      expect(() => openSecret(privateKeys, sealed, context)).toThrow(SealedSecretError);
    }
  });

  test('does not open with any one character replaced, dropped or added', () => {
    const changes = Array.from(sealed, (character, at) => {
      const replacement = character === 'A' ? 'B' : 'A';
      return [replacement, '', `${character}A`, `${character} `, `${character}=`].map(
        (middle) => sealed.slice(0, at) + middle + sealed.slice(at + 1),
      );
    }).flat();
    for (const changed of changes) {
      expect(() => openSecret(privateKeys, changed, CONTEXT)).toThrow(SealedSecretError);
    }
  });

  test('does not open with a part of another text', () => {
    const other = sealSecret(publicKey, SECRET, CONTEXT).split('.');
    for (const part of [3, 4, 5]) {
      const mixed = sealed.split('.').map((text, index) => (index === part ? other[index] : text));
      expect(() => openSecret(privateKeys, mixed.join('.'), CONTEXT)).toThrow(SealedSecretError);
    }
  });

  test('a low-order ephemeral key is refused', () => {
    const parts = sealed.split('.');
    parts[3] = Buffer.alloc(32).toString('base64url');
    expect(() => openSecret(privateKeys, parts.join('.'), CONTEXT)).toThrow(SealedSecretError);
  });

  test('any other text is refused with the same error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(() => openSecret(privateKeys, text, CONTEXT)).toThrow(SealedSecretError);
      }),
    );
  });

  test('a malformed key ring leaves no trace in the error, nor in its cause', () => {
    for (const ring of [privateKeys.slice(1), '{"v1":"hunter2hunter2"}', 'hunter2']) {
      const open = (): string => openSecret(ring, sealed, CONTEXT);
      expect(open).toThrow(SealedSecretError);
      expect(open).not.toThrow(expect.objectContaining({ cause: expect.anything() }));
      expect(open).not.toThrow(/MC4C|hunter2/);
    }
  });
});

describe('rotation', () => {
  const next = generateSealingKeyPair('v2');
  const both = JSON.stringify({ ...JSON.parse(privateKeys), ...JSON.parse(next.privateKeys) });
  const old = sealSecret(publicKey, 'old', CONTEXT);
  const fresh = sealSecret(next.publicKey, 'fresh', CONTEXT);

  test('both versions open meanwhile', () => {
    expect([openSecret(both, old, CONTEXT), openSecret(both, fresh, CONTEXT)]).toEqual([
      'old',
      'fresh',
    ]);
  });

  test('a version that is not in the ring does not open', () => {
    expect(() => openSecret(next.privateKeys, old, CONTEXT)).toThrow(SealedSecretError);
    expect(() => openSecret(privateKeys, fresh, CONTEXT)).toThrow(SealedSecretError);
    expect(() => openSecret(both, old.replace('.v1.v1.', '.v1.toString.'), CONTEXT)).toThrow(
      SealedSecretError,
    );
  });

  test('another key under the same version does not open', () => {
    expect(() => openSecret(generateSealingKeyPair('v1').privateKeys, old, CONTEXT)).toThrow(
      SealedSecretError,
    );
  });
});

describe('configuration', () => {
  test('generated keys are well formed', () => {
    expect(isSealingPublicKey(publicKey)).toBe(true);
    expect(isSealingPrivateKeys(privateKeys)).toBe(true);
  });

  test.each([
    '',
    'v1',
    'v1:',
    `:${publicKey.slice(3)}`,
    'v1:AAAA',
    `${publicKey}:x`,
    `v.1${publicKey.slice(2)}`,
  ])('the public key %j is refused', (text) => {
    expect(isSealingPublicKey(text)).toBe(false);
    expect(() => sealSecret(text, SECRET, CONTEXT)).toThrow(SealedSecretError);
  });

  test.each([
    '',
    '{}',
    'null',
    '[]',
    '"v1"',
    '{"v1":""}',
    '{"v1":1}',
    '{"v1":"AAAA"}',
    anEd25519Ring(),
  ])('the private keys %j are refused', (text) => {
    expect(isSealingPrivateKeys(text)).toBe(false);
  });

  test('a secret that UTF-8 cannot hold is a bug of the caller', () => {
    expect(() => sealSecret(publicKey, '\uD83D', CONTEXT)).toThrow('lone surrogate');
  });
});

function anEd25519Ring(): string {
  const der = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
  return JSON.stringify({ v1: der.toString('base64url') });
}
