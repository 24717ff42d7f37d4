import { parseArgs } from 'node:util';
import { parseOrExplain } from '../command-line.ts';
import { StartupFailure } from '../startup-failure.ts';

const USAGE =
  'npm run topics -- list | lag | tail NAME [--from-beginning [--until-now]] [--key KEY] | ' +
  'republish --topic NAME --from TIME [--key KEY]';

/** What `--help` prints. */
export const TOPICS_HELP = `usage: npm run topics -- COMMAND

  list                                every topic: partitions, messages, retention, schema subjects
  lag                                 every consumer group by partition: what it has still to handle
  tail NAME                           new messages of a topic, decoded, one JSON object a line, until Ctrl-C
    --from-beginning                  those that it holds first
    --until-now                       with it: ends once these are shown
    --key KEY                         only those of this key, such as a txid, a charge or an account
  republish --topic NAME --from TIME  queues what was written to a topic since then once more; what has been
                                      handled is not done again. Prints how many, by schema
    --key KEY                         only what has this key

TIME is ISO 8601, such as 2026-11-22T10:00:00Z. The stack is the one in PIXMESH_HOME (default .pixmesh).`;

/** What `npm run topics` is asked to do. */
export type TopicsArguments =
  | { command: 'help' | 'list' | 'lag' }
  | {
      command: 'tail';
      topic: string;
      fromBeginning: boolean;
      untilNow: boolean;
      key: string | null;
    }
  | { command: 'republish'; topic: string; from: Date; key: string | null };

const OPTIONS = {
  help: { type: 'boolean', default: false },
  'from-beginning': { type: 'boolean', default: false },
  'until-now': { type: 'boolean', default: false },
  topic: { type: 'string' },
  from: { type: 'string' },
  key: { type: 'string' },
} as const;

export function parseTopicsArguments(args: readonly string[]): TopicsArguments {
  const { values, positionals } = parseOrExplain(USAGE, () =>
    parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true }),
  );
  if (values.help) return { command: 'help' };
  const [command, ...names] = positionals;
  const asked = READERS[command ?? '']?.(names, values) ?? null;
  if (asked !== null) return asked;
  throw new StartupFailure(`usage: ${USAGE}; --help explains it`);
}

type Values = {
  'from-beginning': boolean;
  'until-now': boolean;
  topic?: string | undefined;
  from?: string | undefined;
  key?: string | undefined;
};

/** Null where something is missing, or is said that means nothing here. */
type Reader = (names: readonly string[], values: Values) => TopicsArguments | null;

const READERS: Readonly<Record<string, Reader>> = {
  list: (names, values) => (isBare(names, values) ? { command: 'list' } : null),
  lag: (names, values) => (isBare(names, values) ? { command: 'lag' } : null),
  tail: (names, { topic, from, key = null, ...flags }) => {
    const [name] = names;
    const { 'from-beginning': fromBeginning, 'until-now': untilNow } = flags;
    if (name === undefined || names.length > 1 || topic || from) return null;
    if (untilNow && !fromBeginning) return null;
    return { command: 'tail', topic: name, fromBeginning, untilNow, key };
  },
  republish: (names, { topic, from, key = null }) => {
    const since = new Date(from ?? Number.NaN);
    if (names.length > 0 || !topic || Number.isNaN(since.getTime())) return null;
    return { command: 'republish', topic, from: since, key };
  },
};

function isBare(names: readonly string[], { topic, from, key, ...flags }: Values): boolean {
  const isUnsaid = [...names, topic, from, key].every((one) => one === undefined);
  return isUnsaid && !flags['from-beginning'] && !flags['until-now'];
}
