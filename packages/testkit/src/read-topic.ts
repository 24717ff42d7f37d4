import { tailTopic, type TailedMessage } from '@pixmesh/kafka/tail';
import { within } from '@pixmesh/kernel/within';

import { testBroker, testInfra } from './test-infra.ts';

const STOP_TIMEOUT_MS = 2_000;

/** Follows a topic from its beginning; `messages` grows as they come. */
export function followTopic(
  topicPrefix: string,
  topic: string,
): AsyncDisposable & { readonly messages: TailedMessage[] } {
  const stopping = new AbortController();
  const messages: TailedMessage[] = [];
  let failure: Error | null = null;
  const following = tailTopic({
    ...testBroker(),
    registryUrl: testInfra().registryUrl,
    topic: topicPrefix + topic,
    fromBeginning: true,
    signal: stopping.signal,
    onMessage: (message) => messages.push(message),
  }).catch((error: unknown) => {
    failure = error as Error;
  });
  return {
    /** Throws what went wrong, so that a waiting test says why instead of waiting in vain. */
    get messages() {
      if (failure) throw failure;
      return messages;
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await within(STOP_TIMEOUT_MS, following, undefined);
    },
  };
}
