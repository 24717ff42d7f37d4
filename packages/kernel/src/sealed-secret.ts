import assert from 'node:assert';
import {
  createCipheriv,
  createDecipheriv,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

import {
  decodeBase64Url,
  exportPrivateKey,
  exportPublicKey,
  importPublicKey,
  readPrivateKeys,
  readSealingKey,
  SealedSecretError,
} from './sealed-secret-keys.ts';

const FORMAT = 'sealed.v1';
const AES = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const TAG = { authTagLength: TAG_BYTES };

/** What Node allows as HKDF info; a context is a pair of ids, far shorter. */
const BINDING_BYTES_MAX = 1024;

/** Captures the header, then key version, ephemeral key (32 bytes), iv (12) and body (16 or more). */
const SEALED_PATTERN = /^(sealed\.v1\.([\w-]{1,32})\.([\w-]{43}))\.([\w-]{16})\.([\w-]{22,})$/;

/**
 * Seals a secret so that only the holder of the private key can read it: X25519 with a fresh key,
 * HKDF-SHA-256, AES-256-GCM. `publicKey` is `<version>:<base64url>`.
 * `context` names the owner, such as account and resource id: moved to another owner, the text does
 * not open. The result is `sealed.v1.<version>.<ephemeral key>.<iv>.<ciphertext and tag>`.
 * @throws SealedSecretError when `publicKey` is malformed.
 */
export function sealSecret(publicKey: string, secret: string, context: string): string {
  assert(secret.isWellFormed(), 'a lone surrogate would not survive UTF-8');
  const recipient = readSealingKey(publicKey);
  const ephemeral = generateKeyPairSync('x25519');
  const header = `${FORMAT}.${recipient.version}.${exportPublicKey(ephemeral.publicKey)}`;
  const binding = bind(header, context);
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipient.key });
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(AES, deriveKey(shared, binding), iv, TAG).setAAD(binding);
  const sealed = Buffer.concat([
    cipher.update(secret, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return `${header}.${iv.toString('base64url')}.${sealed.toString('base64url')}`;
}

/**
 * Opens what `sealSecret` made with the same `context`. `privateKeys` is the JSON
 * `{ "<version>": "<base64url of PKCS #8>" }`, so that old and new keys are readable in a rotation.
 * @throws SealedSecretError when a key is malformed or absent, or the text was changed or moved.
 */
export function openSecret(privateKeys: string, sealed: string, context: string): string {
  const [, header = '', version = '', ephemeral = '', iv = '', body = ''] =
    SEALED_PATTERN.exec(sealed) ?? [];
  const privateKey = readPrivateKeys(privateKeys).get(version);
  if (privateKey === undefined) throw new SealedSecretError('malformed text or unknown version');
  const binding = bind(header, context);
  try {
    const shared = diffieHellman({ privateKey, publicKey: importPublicKey(ephemeral) });
    const bytes = decodeBase64Url(body);
    const decipher = createDecipheriv(AES, deriveKey(shared, binding), decodeBase64Url(iv), TAG)
      .setAAD(binding)
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    return (
      decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch (cause) {
    throw new SealedSecretError('the sealed text was changed or belongs elsewhere', { cause });
  }
}

/**
 * A new key pair in the text forms of the environment: `publicKey` for those who seal, `privateKeys`
 * for those who open. To rotate, merge the new `privateKeys` into the old JSON before sealing with it.
 */
export function generateSealingKeyPair(version = 'v1'): { publicKey: string; privateKeys: string } {
  const pair = generateKeyPairSync('x25519');
  return {
    publicKey: `${version}:${exportPublicKey(pair.publicKey)}`,
    privateKeys: JSON.stringify({ [version]: exportPrivateKey(pair.privateKey) }),
  };
}

/** The one byte string that names a sealed text and its owner; bound twice, as HKDF info and as AAD. */
function bind(header: string, context: string): Buffer {
  const bytes = Buffer.from(`${header}.${context}`);
  assert(bytes.length <= BINDING_BYTES_MAX && context.isWellFormed(), 'unusable sealing context');
  return bytes;
}

/** The salt may stay empty (RFC 5869 section 3.1), because `shared` is new for every sealed text. */
function deriveKey(shared: Buffer, binding: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', shared, '', binding, KEY_BYTES));
}
