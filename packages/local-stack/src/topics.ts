import { TOPICS } from '@pixmesh/contracts/topics';
import { accessOfFiles, type BrokerAccess } from '@pixmesh/kafka/broker-access';
import { tailTopic } from '@pixmesh/kafka/tail';
import { readStackFile, type StackFile } from './mesh/stack-file.ts';
import { readHome } from './repository.ts';
import { republish } from './republish.ts';
import { runCommand } from './run-command.ts';
import { StartupFailure } from './startup-failure.ts';
import { listenForStop } from './stop-signals.ts';
import { describePresentEnd } from './topics/present-end.ts';
import { showLags, showTopics } from './topics/show-topics.ts';
import {
  parseTopicsArguments,
  TOPICS_HELP,
  type TopicsArguments,
} from './topics/topics-arguments.ts';

await runCommand(async () => {
  const asked = parseTopicsArguments(process.argv.slice(2));
  requireKnown(asked);
  try {
    await run(asked);
  } catch (error) {
    if (error instanceof StartupFailure) throw error;
    throw new StartupFailure(`${asked.command} failed: ${describe(error)}`);
  }
});

function requireKnown(asked: TopicsArguments): void {
  const known: readonly string[] = Object.values(TOPICS);
  if (!('topic' in asked) || known.includes(asked.topic)) return;
  throw new StartupFailure(`no topic ${asked.topic}; there are ${known.join(', ')}`);
}

async function run(asked: TopicsArguments): Promise<void> {
  if (asked.command === 'help') return console.log(TOPICS_HELP);
  const stack = readStackFile(readHome());
  switch (asked.command) {
    case 'list':
      return console.log(await showTopics(brokerOf(stack)));
    case 'lag':
      return console.log(await showLags(brokerOf(stack)));
    case 'tail':
      return await tail(stack, asked);
    case 'republish':
      return console.log(JSON.stringify(await republish(stack.postgres_url, asked)));
  }
}

async function tail(
  stack: StackFile,
  { topic, fromBeginning, untilNow, key }: Extract<TopicsArguments, { command: 'tail' }>,
): Promise<void> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const signals = listenForStop({ followParent: true, onStop: end, onImpatience: end });
  const count = { read: 0, shown: 0 };
  await tailTopic({
    ...brokerOf(stack),
    registryUrl: stack.registry_url,
    topic,
    fromBeginning,
    signal: stop.signal,
    onMessage: (message) => {
      count.read += 1;
      if (key !== null && message.key !== key) return;
      count.shown += 1;
      console.log(JSON.stringify(message));
    },
    onPresentEnd: (partitions) => {
      console.error(describePresentEnd({ partitions, ...count, key, untilNow }));
      if (untilNow) end();
    },
  });
  signals.close();
}

function brokerOf(stack: StackFile): BrokerAccess {
  return accessOfFiles(stack.kafka_brokers, stack.kafka_tls);
}

/** One line; a refused connection has no message of its own, and the first of its causes tells most. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first] = error instanceof AggregateError ? error.errors : [];
  return (
    (first instanceof Error ? first.message : error.message || error.name).split('\n')[0] ?? ''
  );
}
