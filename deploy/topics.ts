import { runTopics } from '@pixmesh/kafka/tools/run-topics';
import { parseTopicsArguments, TOPICS_HELP } from '@pixmesh/kafka/tools/topics-arguments';
import { EnvironmentConfig, readConfig } from '@pixmesh/service/config';
import { warnOfPlaintext } from '@pixmesh/service/warn-of-plaintext';
import { createLogger } from '@pixmesh/telemetry/logger';
import { redactMessage } from '@pixmesh/telemetry/redact';
import { z } from 'zod';

import { deployBroker, DeployBrokerConfig } from './deploy-broker.ts';

export const TopicsConfig = z.object({
  ...EnvironmentConfig,
  ...DeployBrokerConfig,
  /** For `republish`. */
  ADMIN_DATABASE_URL: z.url({ error: 'expected a postgres:// URL' }),
});

/**
 * `npm run topics` for an installation: by the settings of the deploy job, so that a copy of its Job runs it. A tail
 * shows what a topic holds, as dead letters are shown, and ends: a job that waits for messages would only be killed.
 */
export async function topics(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const asked = parseTopicsArguments(args);
  if (asked.command === 'help') return console.log(TOPICS_HELP);
  const config = readConfig(TopicsConfig, env);
  // Stdout has the answer alone.
  warnOfPlaintext(createLogger('deploy', 'warn', process.stderr), config);
  const place = {
    broker: deployBroker(config),
    registryUrl: config.SCHEMA_REGISTRY_URL,
    adminUrl: config.ADMIN_DATABASE_URL,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    show: redactMessage,
  };
  const ending = asked.command === 'tail' ? { fromBeginning: true, untilNow: true } : {};
  await runTopics({ ...asked, ...ending }, place, new AbortController().signal);
}
