import { parseArgs } from 'node:util';
import { StartupFailure } from './startup-failure.ts';

export type StartArguments = ReturnType<typeof parseStartArguments>;

const START_USAGE = 'npm start -- [--no-demo] [--detach] [--watch] [--restart NAME]';
const TAIL_USAGE = 'npm run topics -- tail NAME [--from-beginning]';

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

export function parseTailArguments(args: readonly string[]) {
  const { values, positionals } = parseOrExplain(TAIL_USAGE, () =>
    parseArgs({
      args: [...args],
      options: { 'from-beginning': { type: 'boolean', default: false } },
      allowPositionals: true,
      strict: true,
    }),
  );
  const [command, topic, ...rest] = positionals;
  if (command !== 'tail' || !topic || rest.length > 0) {
    throw new StartupFailure(`usage: ${TAIL_USAGE}`);
  }
  return { topic, fromBeginning: values['from-beginning'] };
}

function parseOrExplain<T>(usage: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartupFailure(`${(error as Error).message.split('\n')[0]} (usage: ${usage})`);
  }
}
