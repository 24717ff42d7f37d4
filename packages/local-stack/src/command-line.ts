import { parseArgs } from 'node:util';
import { parseScale } from './mesh/scale.ts';
import { StartupFailure } from './startup-failure.ts';

export type StartArguments = ReturnType<typeof parseStartArguments>;

const START_USAGE =
  'npm start -- [--no-demo] [--detach] [--watch] [--observe] [--scale NAME=N] [--restart NAME]';

export function parseStartArguments(args: readonly string[]) {
  const values = parseOrExplain(START_USAGE, () => {
    const flag = { type: 'boolean', default: false } as const;
    const options = {
      'no-demo': flag,
      detach: flag,
      watch: flag,
      /** Prometheus and Alertmanager beside the mesh. */
      observe: flag,
      /** Set by `--detach` for the process that it leaves running. */
      detached: flag,
      /** Name of the one process to restart in the running stack. */
      restart: { type: 'string' },
      /** Processes of services; of those that run already, where a stack does. */
      scale: { type: 'string', multiple: true },
    } as const;
    return parseArgs({ args: [...args], options, strict: true }).values;
  });
  const { detach, watch, observe, restart, detached } = values;
  const scale = parseScale(values.scale ?? []);
  return { demo: !values['no-demo'], detach, watch, observe, restart, scale, detached };
}

/** @throws StartupFailure with the usage, where an option is unknown or lacks its value */
function parseOrExplain<T>(usage: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartupFailure(`${(error as Error).message.split('\n')[0]} (usage: ${usage})`);
  }
}
