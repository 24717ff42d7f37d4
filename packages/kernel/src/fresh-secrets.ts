import { randomBytes, randomUUID } from 'node:crypto';

import { generateSealingKeyPair } from './sealed-secret.ts';

const SECRET_BYTES = 32;

/** What an installation makes once, beside passwords per service. */
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
