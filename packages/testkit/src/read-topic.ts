import { setTimeout as delay } from 'node:timers/promises';

import { tailTopic, type TailedMessage } from '@pixmesh/kafka/tail';

import { testInfra } from './test-infra.ts';

/** Follows a topic from its beginning; `messages` grows as they come. */
export function followTopic(
  topicPrefix: string,
  topic: string,
): AsyncDisposable & { messages: TailedMessage[] } {
  const stopping = new AbortController();
  const messages: TailedMessage[] = [];
  const following = tailTopic({
    brokers: testInfra().kafkaBrokers,
    registryUrl: testInfra().registryUrl,
    topic: topicPrefix + topic,
    fromBeginning: true,
    signal: stopping.signal,
    onMessage: (message) => messages.push(message),
  });
  return {
    messages,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await Promise.race([following, delay(2_000)]);
    },
  };
}
