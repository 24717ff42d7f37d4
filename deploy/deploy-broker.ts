import { readIdentity } from '@pixmesh/certificates/mesh-identity';
import { type BrokerAccess, brokerAccess } from '@pixmesh/kafka/broker-access';
import { KafkaConfig, MeshTlsConfig } from '@pixmesh/service/config';
import { z } from 'zod';

/** How a deploy job reaches the broker; by the identity `deploy`, where it is asked for a certificate. */
export const DeployBrokerConfig = {
  ...KafkaConfig,
  MESH_TLS_DIR: MeshTlsConfig.MESH_TLS_DIR.optional(),
} as const;
const BrokerSettings = z.object(DeployBrokerConfig);

/** @throws Error where the identity cannot be used: before anything has been changed */
export function deployBroker(config: z.output<typeof BrokerSettings>): BrokerAccess {
  const { MESH_TLS_DIR: folder } = config;
  if (folder !== undefined) readIdentity(folder);
  return brokerAccess(config, { current: () => readIdentity(folder ?? '') });
}
