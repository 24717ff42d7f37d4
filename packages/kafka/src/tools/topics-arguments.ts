import { parseArgs } from 'node:util';

import { type Topic, TOPICS } from '@pixmesh/contracts/topics';
import { ConfigError } from '@pixmesh/service/config';

const USAGE =
  'topics list | lag | tail NAME [--from-beginning [--until-now]] [--key KEY] (each with [--prefix PREFIX]) | ' +
  'republish --topic NAME --from TIME [--key KEY]';

/** What `--help` prints. */
export const TOPICS_HELP = `usage: topics COMMAND

  list                                every topic: partitions, messages, retention, schema subjects
  lag                                 every consumer group by partition: what it has still to handle
  tail NAME                           new messages of a topic, decoded, one JSON object a line. As a deploy job it
                                      shows what the topic holds, redacted, and ends
    --from-beginning                  those that it holds first
    --until-now                       with it: ends once these are shown
    --key KEY                         only those of this key, such as a txid, a charge or an account
  republish --topic NAME --from TIME  queues what was written to a topic since then once more; what has been
                                      handled is not done again. Prints how many, by schema
    --key KEY                         only what has this key

--prefix PREFIX shows the topics and groups of that prefix, as of an installation before its restore.
TIME is ISO 8601, such as 2026-11-22T10:00:00Z.`;

export type TailArguments = {
  command: 'tail';
  topic: Topic;
  fromBeginning: boolean;
  untilNow: boolean;
  key: string | null;
  prefix: string | null;
};

/** What is asked of topics; a prefix that is null is the installation's. */
export type TopicsArguments =
  | { command: 'help' }
  | { command: 'list' | 'lag'; prefix: string | null }
  | TailArguments
  | { command: 'republish'; topic: Topic; from: Date; key: string | null };

const OPTIONS = {
  help: { type: 'boolean' },
  'from-beginning': { type: 'boolean' },
  'until-now': { type: 'boolean' },
  topic: { type: 'string' },
  from: { type: 'string' },
  key: { type: 'string' },
  prefix: { type: 'string' },
} as const;
type Values = ReturnType<typeof parseWords>['values'];

/** @throws ConfigError with the usage, or with the topics that there are */
export function parseTopicsArguments(args: readonly string[]): TopicsArguments {
  const { values, positionals } = parseWords(args);
  if (values.help) return { command: 'help' };
  const [command, ...names] = positionals;
  const asked = READERS.get(command ?? '')?.(names, values) ?? null;
  if (asked !== null) return asked;
  throw new ConfigError(`usage: ${USAGE}; --help explains it`);
}

function parseWords(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    throw new ConfigError(`${(error as Error).message.split('\n')[0]} (usage: ${USAGE})`);
  }
}

/** Null where something is missing, or is said that means nothing here. */
type Reader = (names: readonly string[], values: Values) => TopicsArguments | null;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['list', (names, values) => readBare('list', names, values)],
  ['lag', (names, values) => readBare('lag', names, values)],
  ['tail', readTail],
  ['republish', readRepublish],
]);

function readBare(
  command: 'list' | 'lag',
  names: readonly string[],
  values: Values,
): TopicsArguments | null {
  const { prefix = null, ...rest } = values;
  return names.length === 0 && areUnsaid(rest) ? { command, prefix } : null;
}

function readTail(names: readonly string[], values: Values): TailArguments | null {
  const { key = null, prefix = null, ...others } = values;
  const {
    'from-beginning': fromBeginning = false,
    'until-now': untilNow = false,
    ...rest
  } = others;
  const [name] = names;
  if (name === undefined || names.length > 1 || !areUnsaid(rest)) return null;
  if (untilNow && !fromBeginning) return null;
  return { command: 'tail', topic: topicOf(name), fromBeginning, untilNow, key, prefix };
}

function readRepublish(names: readonly string[], values: Values): TopicsArguments | null {
  const { topic, from, key = null, ...rest } = values;
  const since = new Date(from ?? Number.NaN);
  if (names.length > 0 || !topic || Number.isNaN(since.getTime()) || !areUnsaid(rest)) return null;
  return { command: 'republish', topic: topicOf(topic), from: since, key };
}

function areUnsaid(values: Readonly<Record<string, unknown>>): boolean {
  return Object.values(values).every((value) => value === undefined);
}

function topicOf(name: string): Topic {
  const topics = Object.values(TOPICS);
  const topic = topics.find((one) => one === name);
  if (topic !== undefined) return topic;
  throw new ConfigError(`no topic ${name}; there are ${topics.join(', ')}`);
}
