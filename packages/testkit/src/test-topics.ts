import { randomBytes } from 'node:crypto';

import { brokerAcls } from '@pixmesh/contracts/internal/broker-rights';
import { addAcls } from '@pixmesh/kafka/acls';
import { createTopics } from '@pixmesh/kafka/topics';
import { createLogger } from '@pixmesh/telemetry/logger';

import { testBroker, TEST_TOPIC_PREFIX } from './test-infra.ts';

/**
 * A set of all topics under a random prefix, so that test files share one broker without meeting. Each service has its
 * rights on them and no others; `tools` has them on everything that is a test's.
 */
export async function createTestTopics(): Promise<{ topicPrefix: string }> {
  const topicPrefix = `${TEST_TOPIC_PREFIX}${randomBytes(6).toString('hex')}.`;
  const logger = createLogger('testkit', 'silent');
  const client = { ...testBroker('deploy'), clientId: 'testkit', logger };
  await addAcls(client, brokerAcls({ prefix: topicPrefix, tools: false }));
  await createTopics({
    ...client,
    replicationFactor: 1,
    minInsyncReplicas: 1,
    topicPrefix,
    partitions: 2,
  });
  return { topicPrefix };
}
