import type { BrokerAccess } from '../broker-access.ts';
import { tailTopic } from '../tail.ts';
import { describePresentEnd } from './present-end.ts';
import { republish } from './republish.ts';
import { showLags, showTopics } from './show-topics.ts';
import type { TailArguments, TopicsArguments } from './topics-arguments.ts';

/** The installation on which a command works, and what of it is shown. */
export type TopicsPlace = {
  broker: BrokerAccess;
  registryUrl: string;
  /** Of the database's owner, or of a superuser. */
  adminUrl: string;
  topicPrefix: string;
  /** The value of a message as it is shown. */
  show(value: unknown): unknown;
};

/** What it finds goes to stdout. A tail that waits for new messages ends by the signal. */
export async function runTopics(
  asked: Exclude<TopicsArguments, { command: 'help' }>,
  place: TopicsPlace,
  signal: AbortSignal,
): Promise<void> {
  switch (asked.command) {
    case 'list':
      return print(await showTopics(place.broker, asked.prefix ?? place.topicPrefix));
    case 'lag':
      return print(await showLags(place.broker, asked.prefix ?? place.topicPrefix));
    case 'tail':
      return await tail(asked, place, signal);
    case 'republish':
      return print(JSON.stringify(await republish(place.adminUrl, asked)));
  }
}

async function tail(asked: TailArguments, place: TopicsPlace, signal: AbortSignal): Promise<void> {
  const { fromBeginning, untilNow, key } = asked;
  const end = new AbortController();
  const count = { read: 0, shown: 0 };
  await tailTopic({
    ...place.broker,
    registryUrl: place.registryUrl,
    topic: (asked.prefix ?? place.topicPrefix) + asked.topic,
    fromBeginning,
    signal: AbortSignal.any([signal, end.signal]),
    onMessage: (message) => {
      count.read += 1;
      if (key !== null && message.key !== key) return;
      count.shown += 1;
      print(JSON.stringify({ ...message, value: place.show(message.value) }));
    },
    onPresentEnd: (partitions) => {
      process.stderr.write(`${describePresentEnd({ partitions, ...count, key, untilNow })}\n`);
      if (untilNow) end.abort();
    },
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
