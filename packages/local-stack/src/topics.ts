import { TOPICS } from '@pixmesh/contracts/topics';
import { tailTopic } from '@pixmesh/kafka/tail';
import { parseTopicsArguments } from './command-line.ts';
import { readStackFile, type StackFile } from './mesh/stack-file.ts';
import { readHome } from './repository.ts';
import { republish } from './republish.ts';
import { runCommand } from './run-command.ts';
import { StartupFailure } from './startup-failure.ts';
import { listenForStop } from './stop-signals.ts';

await runCommand(async () => {
  const asked = parseTopicsArguments(process.argv.slice(2));
  const known: readonly string[] = Object.values(TOPICS);
  if (!known.includes(asked.topic)) {
    throw new StartupFailure(`no topic ${asked.topic}; there are ${known.join(', ')}`);
  }
  const stack = readStackFile(readHome());
  if (asked.command === 'tail') return await tail(stack, asked);
  console.log(JSON.stringify(await republish(stack.postgres_url, asked)));
});

async function tail(
  stack: StackFile,
  { topic, fromBeginning }: { topic: string; fromBeginning: boolean },
): Promise<void> {
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
}
