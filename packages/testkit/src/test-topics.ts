import { randomBytes } from 'node:crypto';

import { createTopics } from '@pixmesh/kafka/topics';
import { createLogger } from '@pixmesh/telemetry/logger';

import { testInfra } from './test-infra.ts';

/** A set of all topics under a random prefix, so that test files share one broker without meeting. */
export async function createTestTopics(): Promise<{ topicPrefix: string }> {
  const topicPrefix = `test-${randomBytes(6).toString('hex')}.`;
  await createTopics({
    brokers: testInfra().kafkaBrokers,
    clientId: 'testkit',
    logger: createLogger('testkit', 'silent'),
    replicationFactor: 1,
    minInsyncReplicas: 1,
    topicPrefix,
    partitions: 2,
  });
  return { topicPrefix };
}
