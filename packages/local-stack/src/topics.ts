import { TOPICS } from '@pixmesh/contracts/topics';
import { tailTopic } from '@pixmesh/kafka/tail';
import { parseTailArguments } from './command-line.ts';
import { readStackFile } from './mesh/stack-file.ts';
import { readHome } from './repository.ts';
import { runCommand } from './run-command.ts';
import { StartupFailure } from './startup-failure.ts';
import { listenForStop } from './stop-signals.ts';

await runCommand(async () => {
  const { topic, fromBeginning } = parseTailArguments(process.argv.slice(2));
  const known: readonly string[] = Object.values(TOPICS);
  if (!known.includes(topic)) {
    throw new StartupFailure(`no topic ${topic}; there are ${known.join(', ')}`);
  }
  const stack = readStackFile(readHome());
  const stop = new AbortController();
  const end = () => stop.abort();
  const signals = listenForStop({ followParent: true, onStop: end, onImpatience: end });
  await tailTopic({
    brokers: stack.kafka_brokers,
    registryUrl: stack.registry_url,
    topic,
    fromBeginning,
    signal: stop.signal,
    onMessage: (message) => console.log(JSON.stringify(message)),
  });
  signals.close();
});
