import { generateKeyPairSync } from 'node:crypto';

import type { CallerClaims, ServiceName } from '@pixmesh/contracts/internal/service-token';
import { newId } from '@pixmesh/kernel/ids';

type Jwk = Record<string, unknown> & { kty: string; kid: ServiceName };

/** One Ed25519 key a service, in the form of the configuration. */
export function createTokenKeys(services: readonly ServiceName[]): {
  privateKeys: Record<string, Jwk>;
  publicKeys: { keys: Jwk[] };
} {
  const pairs = services.map((kid) => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    return {
      kid,
      private: { ...privateKey.export({ format: 'jwk' }), kty: 'OKP', kid },
      public: { ...publicKey.export({ format: 'jwk' }), kty: 'OKP', kid },
    };
  });
  return {
    privateKeys: Object.fromEntries(pairs.map((pair) => [pair.kid, pair.private])),
    publicKeys: { keys: pairs.map((pair) => pair.public) },
  };
}

/** Claims of a request by an active account with default settings. */
export function aCaller(changes: Partial<CallerClaims> = {}): CallerClaims {
  return {
    account_id: newId(),
    application_id: newId(),
    key_id: newId(),
    request_id: newId(),
    creation_id: null,
    ...changes,
    settings: {
      status: 'active',
      onboarding_status: 'approved',
      auto_payout_enabled: true,
      payouts_enabled: true,
      payout_fee: 0,
      charge_expires_in: 86_400,
      release_delay_seconds: 0,
      late_payment_policy: 'accept',
      endpoints_max: null,
      ...changes.settings,
    },
  };
}
