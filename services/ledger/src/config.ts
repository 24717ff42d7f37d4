import { CommonConfig, KafkaConfig, MeshTlsConfig, port } from '@pixmesh/service/config';
import { ReconciliationConfig } from '@pixmesh/reconciliation/reconciliation-config';
import { z } from 'zod';

/** Settings of the ledger service. */
export const LedgerConfig = z.object({
  ...CommonConfig,
  ...MeshTlsConfig,
  ...KafkaConfig,
  ...ReconciliationConfig,
  PORT: port(),
});
export type LedgerConfig = z.output<typeof LedgerConfig>;
