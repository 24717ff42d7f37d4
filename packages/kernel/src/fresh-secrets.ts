import { generateKeyPairSync, type JsonWebKey, randomBytes, randomUUID } from 'node:crypto';

import { generateSealingKeyPair } from './sealed-secret.ts';

const SECRET_BYTES = 32;

/** A JWK with the id of its owner, as services read it from their configuration. */
export type TokenJwk = JsonWebKey & { kid: string };

/** What an installation makes once, beside keys and passwords per service. */
export type InstallationSecrets = {
  apiKeyPepper: string;
  adminToken: string;
  /** Stands unescaped in the URL that is registered at the acquirer. */
  callbackSecret: string;
  acquirerClientId: string;
  acquirerClientSecret: string;
  sealing: { publicKey: string; privateKeys: string };
};

export function createInstallationSecrets(): InstallationSecrets {
  return {
    apiKeyPepper: createSecret(),
    adminToken: createSecret(),
    callbackSecret: createSecret(),
    acquirerClientId: `pixmesh-${randomUUID()}`,
    acquirerClientSecret: createSecret(),
    sealing: generateSealingKeyPair(),
  };
}

/** 256 random bits in letters, digits, `-` and `_`. */
export function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** The Ed25519 key by which one service signs its tokens; the public half may be shown to everybody. */
export function createTokenKeyPair(kid: string): { privateJwk: TokenJwk; publicJwk: TokenJwk } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const description = { kid, alg: 'EdDSA', use: 'sig' };
  return {
    privateJwk: { ...privateKey.export({ format: 'jwk' }), ...description },
    publicJwk: { ...publicKey.export({ format: 'jwk' }), ...description },
  };
}
