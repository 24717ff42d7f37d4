import { setTimeout as delay } from 'node:timers/promises';

import { type Aim, atLeast, atMost, printAims } from '../aims.ts';
import { describeLatencies } from '../latencies.ts';
import { busyPercentSince, machineTimes } from '../machine-times.ts';
import { type Arena, withArenas } from './arena.ts';
import { type FairnessOptions, readFairnessOptions } from './fairness-options.ts';
import type { OpenScene, Scene } from './scenes.ts';
import { makeSteadyCalls, type SteadyFigure } from './steady-calls.ts';

const PER_SECOND = 20;
const WARM_UP_SECONDS = 10;
/** What an aggressor has begun is at its full height by then. */
const RISE_MS = 15_000;
/** A victim's p99 is compared with its own, or with this where that is less. */
const ALONE_MS_MIN = 30;
const SLOWER_MAX = 1.5;
const SLOWER_MAX_BESIDE_CPU = 3;
const AGGRESSOR_KEEPS_MIN = 0.95;

type Figures = Record<string, SteadyFigure>;
type SceneFigure = {
  alone: Figures;
  beside: Figures;
  aggressorPerSecond: number;
  /** What the aggressor still got done in the last third of the time beside it. */
  workedAtEnd: number;
};

/**
 * What one merchant feels of another who takes all of a scarce thing: a victim at a steady 20 per second, first alone,
 * then beside the aggressor; and what the aggressor gets done while it is alone, held against the version before.
 */
export async function benchFairness(): Promise<void> {
  const options = readFairnessOptions(process.argv.slice(3));
  const before = options.before === null ? null : await playAll('before', options.before, options);
  const now = await playAll('now', null, options);
  printAims(
    options.scenes.flatMap((scene) =>
      aimsOf(scene, now.get(scene.name), before?.get(scene.name) ?? null),
    ),
  );
}

async function playAll(
  side: string,
  folder: string | null,
  options: FairnessOptions,
): Promise<Map<string, SceneFigure>> {
  const figures = new Map<string, SceneFigure>();
  await withArenas(folder, async (openArena) => {
    for (const scene of options.scenes) {
      const arena = await openArena();
      const open = await scene.open(arena);
      figures.set(scene.name, await play(`${side} ${scene.name}`, { arena, open, options }));
    }
  });
  return figures;
}

type Play = { arena: Arena; open: OpenScene; options: FairnessOptions };

async function play(name: string, { arena, open, options }: Play): Promise<SceneFigure> {
  await measure(open, WARM_UP_SECONDS);
  const alone = await measurePrinted(`${name} alone`, open, options.seconds);
  await open.aggress();
  await delay(RISE_MS);
  const aggressorPerSecond = await measureAggressor(open, options.aggressorSeconds);
  const workedBefore = await open.worked();
  const lastThird = delay((options.seconds * 2000) / 3).then(open.worked);
  const beside = await measurePrinted(`${name} beside`, open, options.seconds);
  const worked = await open.worked();
  const workedBeside = (worked - workedBefore) / options.seconds;
  console.log(
    `${name}: the aggressor ${aggressorPerSecond.toFixed(1)}/s alone, ${workedBeside.toFixed(1)}/s beside`,
  );
  await arena.attack.call('stop', {});
  await open.end?.();
  await arena.setFaults([]);
  return { alone, beside, aggressorPerSecond, workedAtEnd: worked - (await lastThird) };
}

async function measurePrinted(name: string, open: OpenScene, seconds: number): Promise<Figures> {
  const before = machineTimes();
  const figures = await measure(open, seconds);
  const busyPercent = busyPercentSince(before);
  print(name, figures);
  console.log(`${name}: the machine ${busyPercent.toFixed(0)} % busy`);
  return figures;
}

async function measure({ victims }: OpenScene, seconds: number): Promise<Figures> {
  const load = { perSecond: PER_SECOND, seconds };
  const figures = Object.entries(victims).map(
    async ([name, call]) => [name, await makeSteadyCalls(load, call)] as const,
  );
  return Object.fromEntries(await Promise.all(figures));
}

async function measureAggressor({ worked }: OpenScene, seconds: number): Promise<number> {
  const before = await worked();
  const startMs = performance.now();
  await delay(seconds * 1000);
  return ((await worked()) - before) / ((performance.now() - startMs) / 1000);
}

function print(name: string, figures: Figures): void {
  for (const [call, figure] of Object.entries(figures)) {
    console.log(
      `${`${name}, ${call}`.padEnd(40)} ${describeLatencies(figure)}  errors ${figure.errors} of ${figure.calls}`,
    );
  }
}

function aimsOf(scene: Scene, now: SceneFigure | undefined, before: SceneFigure | null): Aim[] {
  if (now === undefined) return [];
  const slowerMax = scene.saturatesCpu ? SLOWER_MAX_BESIDE_CPU : SLOWER_MAX;
  const aims = Object.entries(now.beside).flatMap(([call, beside]) => {
    const alone = Math.max(now.alone[call]?.p99Ms ?? 0, ALONE_MS_MIN);
    const name = `${scene.name}, ${call}`;
    return [
      atMost(`${name}: errors`, beside.errors, 0),
      atMost(
        `${name}: p99 beside / max(alone, ${ALONE_MS_MIN} ms)`,
        beside.p99Ms / alone,
        slowerMax,
      ),
    ];
  });
  aims.push(atLeast(`${scene.name}: done by the aggressor in the last third`, now.workedAtEnd, 1));
  if (before === null) return aims;
  const kept = now.aggressorPerSecond / before.aggressorPerSecond;
  return [
    ...aims,
    atLeast(`${scene.name}: aggressor alone, now / before`, kept, AGGRESSOR_KEEPS_MIN),
  ];
}
