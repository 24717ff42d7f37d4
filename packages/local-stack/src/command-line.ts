import { parseArgs } from 'node:util';
import { StartupFailure } from './startup-failure.ts';

export type StartArguments = ReturnType<typeof parseStartArguments>;

const START_USAGE = 'npm start -- [--no-demo] [--detach] [--watch] [--restart NAME]';
const TOPICS_USAGE =
  'npm run topics -- tail NAME [--from-beginning] | republish --topic NAME --from TIME [--key KEY]';

export function parseStartArguments(args: readonly string[]) {
  const values = parseOrExplain(START_USAGE, () => {
    const flag = { type: 'boolean', default: false } as const;
    const options = {
      'no-demo': flag,
      detach: flag,
      watch: flag,
      /** Set by `--detach` for the process that it leaves running. */
      detached: flag,
      /** Name of the one process to restart in the running stack. */
      restart: { type: 'string' },
    } as const;
    return parseArgs({ args: [...args], options, strict: true }).values;
  });
  const { detach, watch, restart, detached } = values;
  return { demo: !values['no-demo'], detach, watch, restart, detached };
}

/** What `npm run topics` is asked to do with a topic. */
export type TopicsArguments =
  | { command: 'tail'; topic: string; fromBeginning: boolean }
  | { command: 'republish'; topic: string; from: Date; key: string | null };

export function parseTopicsArguments(args: readonly string[]): TopicsArguments {
  const { values, positionals } = parseOrExplain(TOPICS_USAGE, () => {
    const options = {
      'from-beginning': { type: 'boolean', default: false },
      topic: { type: 'string' },
      from: { type: 'string' },
      key: { type: 'string' },
    } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  });
  const [command, name, ...rest] = positionals;
  const { topic, from, key = null } = values;
  if (command === 'tail' && name && rest.length === 0 && !topic && !from && key === null) {
    return { command, topic: name, fromBeginning: values['from-beginning'] };
  }
  const since = new Date(from ?? Number.NaN);
  if (command === 'republish' && !name && topic && !Number.isNaN(since.getTime())) {
    return { command, topic, from: since, key };
  }
  throw new StartupFailure(`usage: ${TOPICS_USAGE}`);
}

function parseOrExplain<T>(usage: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartupFailure(`${(error as Error).message.split('\n')[0]} (usage: ${usage})`);
  }
}
