import type { AccountId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';

import { executeBatch } from '#engine/execute-batch.ts';
import { createOracle, type Oracle } from '#test/oracle.ts';
import type { OracleCommand } from '#test/oracle-books.ts';

import { compareBooks, compareOutcomes } from './compare-books.ts';
import { crashingDatabase, type CrashPlace } from './crashing-database.ts';
import { findOvertaken, verifyDeliveries } from './verify-deliveries.ts';
import { type Decided, linearise, nameOf } from './linearise.ts';
import {
  type ModelProcess,
  type ProcessParts,
  REAL_PARTS,
  startModelProcess,
} from './model-process.ts';
import { deliverAtOnce, type Delivery } from './model-round.ts';
import { type Reply, toLedgerCommand, toReply } from './model-vocabulary.ts';
import { endIdOf } from './model-hold-commands.ts';
import { createWorkload } from './model-workload.ts';
import { readJournals, readOutcomes, readReleases } from './read-books.sql.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const PROCESSES = 3;
const ACCOUNTS = 4;
/** New owners now and then, so that long runs stay as fast as short ones. */
const ROUNDS_PER_WORLD = 8;
const ROUND_MAX = 500;
const BATCH_MAX = 120;
/** So many times its steps a run may take until each outcome has come, and a crash at each place. */
const EXTENSION_MAX = 4;
const TRIES_MAX = 100;
/** At each of the places around the statements and the commit of a batch. */
const BATCH_CRASH_RATE = 0.03;

export type ModelOptions = {
  seed: number;
  /** Deliveries to make, of new commands and of repeats. */
  steps: number;
  /** Outcomes that have to come: the run goes on for those that chance has kept back, within a bound. */
  words?: readonly string[];
  /** Places at which a process has to die or lose its connection, in the same way. */
  places?: readonly CrashPlace[];
  url: string;
  db: Database;
  parts?: ProcessParts;
  runBatch?: typeof executeBatch;
};

export type ModelReport = {
  steps: number;
  /** Differences between the ledger and the oracle; the run ends with the first round that has any. */
  breaks: string[];
  /** How often each outcome came, so that one that never comes shows. */
  words: Map<string, number>;
  crashes: Map<CrashPlace, number>;
};

/**
 * One seed drives commands of every kind over a few accounts: repeats, other contents, disorder, batches of any size,
 * many processes at once, death before and after every statement and commit, and restarts. After each round the
 * ledger and an oracle that shares no code with it must agree about everything.
 */
export async function runModel(options: ModelOptions): Promise<ModelReport> {
  const random = seededRandom(options.seed);
  const report: ModelReport = { steps: 0, breaks: [], words: new Map(), crashes: new Map() };
  while (!isOver(options, report)) await runWorld(options, random, report);
  return report;
}

function isOver(options: ModelOptions, report: ModelReport): boolean {
  const { steps, words = [], places = [] } = options;
  if (report.breaks.length > 0 || report.steps >= steps * EXTENSION_MAX) return true;
  const hasAll =
    words.every((word) => report.words.has(word)) &&
    places.every((place) => report.crashes.has(place));
  return report.steps >= steps && hasAll;
}

type World = {
  options: ModelOptions;
  random: SeededRandom;
  report: ModelReport;
  oracle: Oracle;
  accounts: readonly string[];
  workload: ReturnType<typeof createWorkload>;
  /** Everything that was decided in this world. */
  decided: Decided[];
  /** The content of each decided command, to know another one under its id from it. */
  contents: Map<string, string>;
};

async function runWorld(
  options: ModelOptions,
  random: SeededRandom,
  report: ModelReport,
): Promise<void> {
  const accounts = Array.from({ length: ACCOUNTS }, () => random.id());
  const workload = createWorkload(random, accounts);
  const records = { oracle: createOracle(), decided: [], contents: new Map<string, string>() };
  const world: World = { options, random, report, accounts, workload, ...records };
  for (let round = 0; round < ROUNDS_PER_WORLD && report.breaks.length === 0; round += 1) {
    const commands = await drawRound(world);
    const isConcurrent = random.chance(0.6);
    const breaks = isConcurrent
      ? await roundAtOnce(world, commands)
      : await roundInOrder(world, commands);
    report.steps += commands.length;
    breaks.push(...(await compareBooks(options.db, world.oracle, accounts)));
    if (accounts.some((id) => world.oracle.accountOf(id).forced > 0)) count(report, 'forced debit');
    report.breaks.push(
      ...breaks.map((line) => `${isConcurrent ? 'at once' : 'in order'}: ${line}`),
    );
    if (isOver(options, report)) break;
  }
  if (report.breaks.length > 0) return;
  report.breaks.push(...(await compareOutcomes(options.db, world.decided, accounts)));
}

/** New commands, and those by which the ledger's own job makes waiting credits available. */
async function drawRound({ options, random, workload, accounts }: World): Promise<OracleCommand[]> {
  const count = 1 + random.below(ROUND_MAX);
  const commands = Array.from({ length: count }, () => workload.next());
  const releases = await readReleases(options.db, accounts);
  const due = releases.filter(({ isDue }) => isDue);
  const made = due.map(({ creditId, accountId, amount }): OracleCommand => {
    const id = endIdOf(creditId, 'hold.release');
    return { id, kind: 'pending.release', accountId, creditId, amount };
  });
  // The job runs in more than one process.
  return random.shuffled([...commands, ...made, ...made]);
}

async function roundAtOnce(world: World, commands: readonly OracleCommand[]): Promise<string[]> {
  const { random, options, report } = world;
  const settings = { crashes: random.chance(0.7), parts: options.parts ?? REAL_PARTS };
  const processes = Array.from({ length: PROCESSES }, () =>
    startModelProcess(options.url, random, settings),
  );
  const deliveries = await deliverAtOnce(random, processes, commands);
  await endAll(processes, report);
  return await verifyAnyOrder(world, commands, deliveries);
}

/** Whatever order the ledger chose, all of it must be right in that order. */
async function verifyAnyOrder(
  world: World,
  commands: readonly OracleCommand[],
  deliveries: readonly Delivery[],
): Promise<string[]> {
  const { journals, known } = await readDecided(world, commands);
  const all = new Map([...known, ...journals]);
  const { decided: fresh, breaks } = verifyDeliveries(deliveries, all, world.contents);
  breaks.push(...findOvertaken(fresh, deliveries));
  const places = await readPlaces(world, fresh);
  for (const owners of Map.groupBy(fresh, ({ found }) => found.accountId).values()) {
    breaks.push(...linearise(world.oracle, owners, places));
  }
  if (fresh.length !== journals.size) breaks.push('a command is booked and nobody was answered so');
  record(world, fresh);
  return breaks;
}

/** Where the event of each command stands: only disputes that moved nothing need to be placed by it. */
async function readPlaces({ options, accounts }: World, fresh: readonly Decided[]) {
  const isUnmoved = ({ command, found }: Decided): boolean =>
    found.version === null &&
    (command.kind === 'dispute.block' || command.kind === 'dispute.unblock');
  if (!fresh.some((one) => isUnmoved(one))) return new Map<string, number>();
  const outcomes = await readOutcomes(options.db, accounts);
  return new Map(outcomes.map(({ commandId }, place) => [commandId, place]));
}

/** What stands of the round's commands: what this round decided, and what was decided before it. */
async function readDecided({ options, oracle }: World, commands: readonly OracleCommand[]) {
  const ids = [...new Set(commands.map(({ id }) => id))];
  const all = await readJournals(options.db, ids);
  const entries = all.map((found) => [found.commandId, found] as const);
  const isOld = ([id]: readonly [string, unknown]): boolean => oracle.books.decided.has(id);
  return {
    journals: new Map(entries.filter((entry) => !isOld(entry))),
    known: new Map(entries.filter((entry) => isOld(entry))),
  };
}

/**
 * Batches one after the other, so that the order is known and every single answer can be foretold, rejections too. A
 * batch whose outcome is unknown is written again as it was: what was rejected the first time may then be accepted,
 * because of what came after it, so only the ledger knows the order of such a batch.
 */
async function roundInOrder(world: World, commands: readonly OracleCommand[]): Promise<string[]> {
  const breaks: string[] = [];
  for (let rest = commands; rest.length > 0 && breaks.length === 0;) {
    const batch = rest.slice(0, 1 + world.random.below(BATCH_MAX));
    rest = rest.slice(batch.length);
    const { replies, tries } = await writeUntilKnown(world, batch);
    if (tries === 1) breaks.push(...(await verifyInOrder(world, batch, replies)));
    else {
      const deliveries = batch.map((command, index): Delivery => {
        return { command, startedAt: 0, answered: { at: 1, reply: replies[index]! } };
      });
      breaks.push(...(await verifyAnyOrder(world, batch, deliveries)));
    }
  }
  return breaks;
}

async function verifyInOrder(
  world: World,
  batch: readonly OracleCommand[],
  replies: readonly Reply[],
): Promise<string[]> {
  const breaks: string[] = [];
  const found = await readDecided(world, batch);
  const fresh: Decided[] = [];
  for (const [index, command] of batch.entries()) {
    const journal = found.journals.get(command.id) ?? found.known.get(command.id);
    const must = foretell(world, command, journal?.atMs);
    const reply = replies[index]!;
    if (must.isNew && journal) fresh.push({ command, found: journal });
    const isFirst = must.isNew === reply.isFirst;
    if (reply.word === must.word && reply.isRejected === must.isRejected && isFirst) continue;
    const said = `${reply.isFirst ? 'first' : 'again'} ${reply.word}`;
    breaks.push(`${nameOf(command)} was answered ${said}, must be ${must.word}`);
  }
  if (fresh.length !== found.journals.size) breaks.push('not all that was decided is booked');
  record(world, fresh);
  return breaks;
}

function foretell({ oracle, contents }: World, command: OracleCommand, atMs = Date.now()) {
  const content = JSON.stringify(command);
  const first = contents.get(command.id);
  if (first !== undefined && first !== content) {
    return { word: 'other_content', isRejected: true, isNew: false };
  }
  const isNew = first === undefined;
  const { word, isRejected } = oracle.apply(command, atMs);
  if (!isRejected) contents.set(command.id, content);
  return { word, isRejected, isNew: isNew && !isRejected };
}

async function writeUntilKnown(world: World, batch: readonly OracleCommand[]) {
  const { options, random, report } = world;
  const runBatch = options.runBatch ?? executeBatch;
  const tamper = options.parts?.tamper ?? REAL_PARTS.tamper;
  const commands = batch.map((command) => toLedgerCommand(command));
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    // The last tries are calm: a database does not stay away for ever.
    const rate = tries > TRIES_MAX / 2 ? 0 : BATCH_CRASH_RATE;
    const faults = { random, deathRate: rate, lossRate: rate, hits: report.crashes };
    try {
      const { db } = crashingDatabase(options.db, faults);
      const deps = {
        db: tamper(db),
        wakeOutbox: () => undefined,
        lockedOwners: new Set<AccountId>(),
      };
      const outcomes = await runBatch(deps, commands);
      const known = outcomes.filter((outcome) => outcome.kind !== 'owner_locked');
      if (known.length === outcomes.length) {
        return { tries, replies: known.map((outcome) => toReply(outcome)) };
      }
    } catch (error) {
      if (tries === TRIES_MAX || !isInjected(error)) throw error;
    }
  }
  throw new Error('a batch stays unknown');
}

function isInjected(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'ProcessDied' || message.startsWith('connection lost');
}

function record({ decided, report, contents }: World, fresh: readonly Decided[]): void {
  decided.push(...fresh);
  for (const { command, found } of fresh) {
    contents.set(command.id, JSON.stringify(command));
    count(report, `${command.kind} ${found.word}`);
    const isOfBlock = found.entries.some(({ kind }) => kind === 'blocked');
    if (isOfBlock && 'holdId' in command) count(report, `${command.kind} of a block`);
  }
}

function count(report: ModelReport, word: string): void {
  report.words.set(word, (report.words.get(word) ?? 0) + 1);
}

async function endAll(processes: readonly ModelProcess[], report: ModelReport): Promise<void> {
  for (const process of processes) {
    for (const [place, count] of process.hits) {
      report.crashes.set(place, (report.crashes.get(place) ?? 0) + count);
    }
    await process[Symbol.asyncDispose]();
  }
}
