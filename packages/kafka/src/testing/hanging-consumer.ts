/**
 * A process that consumes and never finishes a message: `node hanging-consumer.ts <brokers> <registry> <prefix>
 * <group>`. It says when it has a message in hand, so that a test can kill it there.
 */
import { TOPICS } from '@pixmesh/contracts/topics';
import { createLogger } from '@pixmesh/telemetry/logger';

import { accessOfFolder } from '../broker-access.ts';
import { startConsumer } from '../consumer.ts';
import { on } from '../message-handler.ts';
import { warmCodec } from '../schema-registry.ts';
import { TEST_MESSAGE } from './test-message.ts';

const [broker = '', folder = '', registryUrl = '', topicPrefix = '', groupId = ''] =
  process.argv.slice(2);

startConsumer({
  ...accessOfFolder([broker], folder),
  clientId: 'hanging',
  logger: createLogger('hanging', 'silent'),
  topicPrefix,
  groupId,
  topics: [TOPICS.ledgerEvents],
  codec: await warmCodec(registryUrl, [TEST_MESSAGE]),
  handlers: [
    on(TEST_MESSAGE, async () => {
      process.stdout.write('in hand\n');
      await new Promise(() => undefined);
    }),
  ],
  park: async () => undefined,
  onFatal: (error) => {
    throw error;
  },
});
