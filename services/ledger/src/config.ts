import { CommonConfig, KafkaConfig, port } from '@pixmesh/http/config';
import { TokenKeysConfig } from '@pixmesh/http/service-token';
import { z } from 'zod';

/** Settings of the ledger service. */
export const LedgerConfig = z.object({
  ...CommonConfig,
  ...KafkaConfig,
  ...TokenKeysConfig,
  PORT: port(),
});
export type LedgerConfig = z.output<typeof LedgerConfig>;
