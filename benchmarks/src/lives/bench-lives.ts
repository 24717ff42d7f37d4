import { setTimeout as delay } from 'node:timers/promises';

import { type Aim, atLeast, atMost, printAims } from '../aims.ts';
import { keepBusy } from '../closed-loop.ts';
import { cpuTimeMs, sharesOf } from '../cpu-time.ts';
import { describeMachine } from '../durable-server.ts';
import { makeSteadyCalls } from '../fairness/steady-calls.ts';
import { createLatencies, describeLatencies, type LatencyFigure } from '../latencies.ts';
import { medianOf, runInTurns, sumOf } from '../rounds.ts';
import type { Stack } from '../with-stack.ts';
import { compareLives } from './compare-lives.ts';
import { type Idle, measureIdle } from './idle-cost.ts';
import type { LifeDeps, LifeKind } from './life-kinds.ts';
import { type LivesOptions, readLivesOptions } from './lives-options.ts';
import { costPerLife, type LifeCost, readCounters } from './mesh-counters.ts';
import { printStatements } from './statement-times.ts';
import { printStored, readStoredBytes } from './stored-bytes.ts';
import { countIndexEntries, printWal } from './wal-records.ts';
import { withMesh } from './with-mesh.ts';

const WARM_UP_SECONDS = 8;
const WARM_UP_CLIENTS = 16;
/** What lives have left behind is done by then. */
const SETTLE_MS = 3_000;
const WAL_BYTES_MAX = 18 * 1_024;

type Measured = {
  perSecond: number;
  cost: LifeCost;
  /** Null where they could not be counted. */
  indexEntries: number | null;
  latency: LatencyFigure;
};
/** By life and number of clients. */
type Round = { lives: Map<string, Measured>; idle: Idle };
type Side = 'before' | 'now';

/**
 * Whole lives of charges and payouts through the mesh: what each costs over all processes, how many of them a second,
 * and what the mesh costs while nothing happens. In turns with another checkout, where one is given.
 */
export async function benchLives(): Promise<void> {
  const options = readLivesOptions(process.argv.slice(3));
  if (options.before !== null && options.slices > 0) {
    await compareLives(options.before, options);
    return;
  }
  const sides: Side[] = options.before === null ? ['now'] : ['before', 'now'];
  const rounds = await runInTurns(sides, options.rounds, async (side, round) => {
    console.log(`\n== ${side} ${round}: ${describeMachine()}`);
    return await playRound(side === 'before' ? options.before : null, options);
  });
  printAims(aimsOf(options, rounds.now));
}

async function playRound(checkout: string | null, options: LivesOptions): Promise<Round> {
  const lives = new Map<string, Measured>();
  let idle: Idle | null = null;
  await withMesh(checkout, options, async (stack, deps) => {
    idle = await measureIdle(stack);
    for (const kind of options.kinds) {
      await keepBusy({ workers: WARM_UP_CLIENTS, seconds: WARM_UP_SECONDS }, async () => {
        await kind.live(deps);
      });
      for (const clients of options.clients) {
        const measured = await measureClosed(stack, { deps, kind, clients, options });
        lives.set(nameOf(kind, clients), measured);
      }
      if (options.perSecond !== null) await measureOpen(deps, kind, options);
    }
  });
  if (idle === null) throw new Error('nothing was measured');
  return { lives, idle };
}

function nameOf(kind: LifeKind, clients: number): string {
  return `${kind.name}, ${clients} at once`;
}

type Play = { deps: LifeDeps; kind: LifeKind; clients: number; options: LivesOptions };

async function measureClosed(
  stack: Stack,
  { deps, kind, clients, options }: Play,
): Promise<Measured> {
  const latencies = createLatencies();
  await delay(SETTLE_MS);
  if (options.statements) await printStatements(stack, null);
  const storedBefore = options.bytes ? await readStoredBytes(stack) : null;
  const before = { ...(await readCounters(stack)), cpuMs: cpuTimeMs(stack.pids) };
  const { count, seconds } = await keepBusy(
    { workers: clients, seconds: options.seconds },
    async () => {
      latencies.record(await kind.live(deps));
    },
  );
  // Lives have ended when they are counted, so what comes later is the cost of an idle mesh.
  const cpuMs = cpuTimeMs(stack.pids);
  await delay(SETTLE_MS);
  const after = { ...(await readCounters(stack)), cpuMs };
  const range = { from: before.walPosition, to: after.walPosition };
  const entries = await countIndexEntries(stack, range);
  const measured = {
    perSecond: count / seconds,
    cost: costPerLife(before, after, count),
    indexEntries: entries === null ? null : entries / count,
    latency: latencies.figure(),
  };
  printLives(nameOf(kind, clients), measured);
  if (options.statements) await printStatements(stack, count);
  if (options.wal) await printWal(stack, range, count);
  if (storedBefore !== null) printStored(storedBefore, await readStoredBytes(stack), count);
  return measured;
}

async function measureOpen(deps: LifeDeps, kind: LifeKind, options: LivesOptions): Promise<void> {
  const load = { perSecond: options.perSecond ?? 0, seconds: options.seconds };
  const figure = await makeSteadyCalls(load, () => kind.live(deps));
  console.log(
    `${`${kind.name}, ${load.perSecond}/s`.padEnd(24)} ${describeLatencies(figure)}  errors ${figure.errors}`,
  );
}

function printLives(name: string, { perSecond, cost, indexEntries, latency }: Measured): void {
  const counts = (['commits', 'rows', 'walBytes', 'messages'] as const)
    .map((field) => `${field} ${cost[field].toFixed(1)}`)
    .concat(`indexEntries ${indexEntries?.toFixed(1) ?? '–'}`)
    .join(', ');
  console.log(
    `${name.padEnd(24)} ${perSecond.toFixed(1)}/s  ${totalCpu(cost).toFixed(2)} ms of CPU  ${describeLatencies(latency)}\n` +
      `    ${describeShares(cost.cpuMs, 1, 0.05)}\n    ${counts}`,
  );
}

function totalCpu({ cpuMs }: LifeCost): number {
  return sumOf(Object.values(cpuMs), (ms) => ms);
}

function describeShares(cpuMs: Record<string, number>, count: number, shownMin: number): string {
  return sharesOf(cpuMs, count)
    .filter(([, share]) => share >= shownMin)
    .map(([name, share]) => `${name} ${share.toFixed(2)}`)
    .join(', ');
}

const CPU_MS_MAX = 12;
const PER_SECOND_MIN = 120;

function aimsOf({ kinds, clients }: LivesOptions, rounds: readonly Round[]): Aim[] {
  const most = Math.max(...clients);
  const ofLife = (name: string, figure: (measured: Measured) => number) =>
    medianOf(rounds, ({ lives }) => {
      const measured = lives.get(name);
      return measured === undefined ? Number.NaN : figure(measured);
    });
  const aims = kinds
    .filter(({ name }) => name === 'paid' || name === 'automatic')
    .flatMap((kind) => {
      const name = nameOf(kind, most);
      return [
        atMost(
          `${name}: ms of CPU`,
          ofLife(name, ({ cost }) => totalCpu(cost)),
          CPU_MS_MAX,
        ),
        atLeast(
          `${name}: lives/s`,
          ofLife(name, ({ perSecond }) => perSecond),
          PER_SECOND_MIN,
        ),
        ...(kind.name === 'paid'
          ? [
              atMost(
                `${name}: WAL bytes`,
                ofLife(name, ({ cost }) => cost.walBytes),
                WAL_BYTES_MAX,
              ),
            ]
          : []),
      ];
    });
  return [
    ...aims,
    atMost(
      'idle services, % of a core',
      medianOf(rounds, ({ idle }) => idle.services),
      6,
    ),
    atMost(
      'idle Kafka and Postgres, % of a core',
      medianOf(rounds, ({ idle }) => idle.infra),
      10,
    ),
    atMost(
      'memory of the largest service after the start, MB',
      medianOf(rounds, ({ idle }) => idle.memoryMbMax),
      200,
    ),
  ];
}
