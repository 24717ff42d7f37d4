import { CommonConfig, KafkaConfig, MeshTlsConfig, port } from '@pixmesh/service/config';
import { TokenKeysConfig } from '@pixmesh/http/service-token';
import { ReconciliationConfig } from '@pixmesh/reconciliation/reconciliation-config';
import { z } from 'zod';

/** Settings of the ledger service. */
export const LedgerConfig = z.object({
  ...CommonConfig,
  ...MeshTlsConfig,
  ...KafkaConfig,
  // It checks tokens and signs none: it gets no private key.
  SERVICE_TOKEN_PUBLIC_KEYS: TokenKeysConfig.SERVICE_TOKEN_PUBLIC_KEYS,
  ...ReconciliationConfig,
  PORT: port(),
});
export type LedgerConfig = z.output<typeof LedgerConfig>;
