import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

const VERSION_PATTERN = /^[\w-]{1,32}$/;

/** A sealed text or a key that cannot be used. Its message never holds a secret or a key. */
export class SealedSecretError extends Error {
  override readonly name = 'SealedSecretError';
}

/** Whether a text is a sealing key, `<version>:<base64url of 32 bytes>`; for checking configuration. */
export function isSealingPublicKey(text: string): boolean {
  return succeeds(() => readSealingKey(text));
}

/** Whether a text is JSON of one or more versions with private keys; for checking configuration. */
export function isSealingPrivateKeys(text: string): boolean {
  return succeeds(() => readPrivateKeys(text));
}

/**
 * Reads the key to seal with, `<version>:<base64url of 32 bytes>`.
 * @throws SealedSecretError when it is malformed.
 */
export function readSealingKey(text: string): { version: string; key: KeyObject } {
  const [version = '', encoded = '', ...rest] = text.split(':');
  if (!VERSION_PATTERN.test(version) || rest.length > 0) {
    throw new SealedSecretError('a sealing key is <version>:<base64url>');
  }
  return { version, key: importPublicKey(encoded) };
}

/**
 * Reads the keys to open with, JSON `{ "<version>": "<base64url of PKCS #8>" }`, by version.
 * @throws SealedSecretError when it is malformed. It carries no cause, because messages of
 * `JSON.parse` quote the text and would put a private key into the log.
 */
export function readPrivateKeys(text: string): ReadonlyMap<string, KeyObject> {
  try {
    const ring = Object.entries<unknown>(Object(JSON.parse(text)));
    if (ring.length > 0) {
      return new Map(ring.map(([version, encoded]) => [version, importPrivateKey(encoded)]));
    }
  } catch {
    // Falls through to the one message for every fault.
  }
  throw new SealedSecretError('private keys are JSON {"<version>":"<base64url of PKCS #8>"}');
}

/** Takes the raw 32 bytes in base64url, the `x` of a JWK (RFC 8037). */
export function importPublicKey(encoded: string): KeyObject {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: encoded }, format: 'jwk' });
  } catch {
    throw new SealedSecretError('not an X25519 public key');
  }
}

/** The reverse of `importPublicKey`. */
export function exportPublicKey(key: KeyObject): string {
  return key.export({ format: 'jwk' }).x ?? '';
}

/** The PKCS #8 form (RFC 5958) in base64url, as `readPrivateKeys` expects it. */
export function exportPrivateKey(key: KeyObject): string {
  return key.export({ format: 'der', type: 'pkcs8' }).toString('base64url');
}

/**
 * Strict base64url: Node skips foreign characters and ignores spare bits, which would give one
 * sealed text several spellings.
 * @throws SealedSecretError when the text is not exactly what encoding its bytes gives.
 */
export function decodeBase64Url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new SealedSecretError('not base64url');
  return bytes;
}

function importPrivateKey(encoded: unknown): KeyObject {
  const der = decodeBase64Url(String(encoded));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  if (key.asymmetricKeyType !== 'x25519') throw new SealedSecretError('not an X25519 private key');
  return key;
}

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
