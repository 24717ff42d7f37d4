import { accessOfFiles } from '@pixmesh/kafka/broker-access';
import { runTopics } from '@pixmesh/kafka/tools/run-topics';
import {
  parseTopicsArguments,
  TOPICS_HELP,
  type TopicsArguments,
} from '@pixmesh/kafka/tools/topics-arguments';
import { ConfigError } from '@pixmesh/service/config';
import { readStackFile } from './mesh/stack-file.ts';
import { readHome } from './repository.ts';
import { runCommand } from './run-command.ts';
import { StartupFailure } from './startup-failure.ts';
import { listenForStop } from './stop-signals.ts';

await runCommand(async () => {
  const asked = readArguments();
  try {
    await run(asked);
  } catch (error) {
    if (error instanceof StartupFailure) throw error;
    throw new StartupFailure(`${asked.command} failed: ${describe(error)}`);
  }
});

function readArguments(): TopicsArguments {
  try {
    return parseTopicsArguments(process.argv.slice(2));
  } catch (error) {
    throw error instanceof ConfigError ? new StartupFailure(error.message) : error;
  }
}

async function run(asked: TopicsArguments): Promise<void> {
  if (asked.command === 'help') return console.log(TOPICS_HELP);
  const stack = readStackFile(readHome());
  const place = {
    broker: accessOfFiles(stack.kafka_brokers, stack.kafka_tls),
    registryUrl: stack.registry_url,
    adminUrl: stack.postgres_url,
    topicPrefix: '',
    show: (value: unknown) => value,
  };
  const stop = new AbortController();
  const end = () => stop.abort();
  const signals =
    asked.command === 'tail'
      ? listenForStop({ followParent: true, onStop: end, onImpatience: end })
      : null;
  await runTopics(asked, place, stop.signal);
  signals?.close();
}

/** One line; a refused connection has no message of its own, and the first of its causes tells most. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first] = error instanceof AggregateError ? error.errors : [];
  return (
    (first instanceof Error ? first.message : error.message || error.name).split('\n')[0] ?? ''
  );
}
