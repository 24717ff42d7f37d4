import { keepBusy } from '../closed-loop.ts';
import { cpuTimeMs, cpuTimeSince } from '../cpu-time.ts';
import { describeMachine } from '../durable-server.ts';
import { medianOf, describeRatios, runInTurns, sumOf } from '../rounds.ts';
import type { Stack } from '../with-stack.ts';
import type { LifeDeps, LifeKind } from './life-kinds.ts';
import type { LivesOptions } from './lives-options.ts';
import { withMesh } from './with-mesh.ts';

const SLICE_SECONDS = 5;
const WARM_UP_SECONDS = 15;

type Side = 'before' | 'now';
type Mesh = { stack: Stack; deps: LifeDeps };
type Slice = { lives: number; perSecond: number; cpuMs: Record<string, number> };

/**
 * What a life costs in two checkouts whose meshes run at the same time and take turns of some seconds: a machine whose
 * speed drifts from minute to minute meets both alike. The one that rests is not counted, and costs both the same.
 */
export async function compareLives(before: string, options: LivesOptions): Promise<void> {
  console.log(`== before and now in turns: ${describeMachine()}`);
  await withMesh(before, options, async (formerStack, formerDeps) => {
    await withMesh(null, options, async (stack, deps) => {
      const meshes = { before: { stack: formerStack, deps: formerDeps }, now: { stack, deps } };
      for (const kind of options.kinds) {
        for (const clients of options.clients) await compareOne(meshes, { kind, clients, options });
      }
    });
  });
}

type Play = { kind: LifeKind; clients: number; options: LivesOptions };

async function compareOne(meshes: Record<Side, Mesh>, play: Play): Promise<void> {
  for (const mesh of Object.values(meshes)) await playSlice(mesh, play, WARM_UP_SECONDS);
  const slices = await runInTurns(['before', 'now'] as const, play.options.slices, (side) =>
    playSlice(meshes[side], play, SLICE_SECONDS),
  );
  console.log(`${play.kind.name}, ${play.clients} at once, ${play.options.slices} slices each`);
  for (const side of ['before', 'now'] as const) console.log(describeSide(side, slices[side]));
  console.log(`    ms of CPU, now to before: ${describeRatios(slices.now, slices.before, costOf)}`);
}

async function playSlice(
  { stack, deps }: Mesh,
  { kind, clients }: Play,
  seconds: number,
): Promise<Slice> {
  const before = cpuTimeMs(stack.pids);
  const done = await keepBusy({ workers: clients, seconds }, async () => {
    await kind.live(deps);
  });
  const cpuMs = cpuTimeSince(before, stack.pids);
  return { lives: done.count, perSecond: done.count / done.seconds, cpuMs };
}

/** CPU milliseconds of a life, of all processes. */
function costOf({ cpuMs, lives }: Slice): number {
  return sumOf(Object.values(cpuMs), (ms) => ms) / lives;
}

function describeSide(side: Side, slices: readonly Slice[]): string {
  const shares = Object.keys(slices[0]?.cpuMs ?? {})
    .map(
      (name) => [name, medianOf(slices, ({ cpuMs, lives }) => (cpuMs[name] ?? 0) / lives)] as const,
    )
    .toSorted(([, a], [, b]) => b - a)
    .filter(([, ms]) => ms >= 0.05)
    .map(([name, ms]) => `${name} ${ms.toFixed(2)}`);
  const perSecond = medianOf(slices, (slice) => slice.perSecond);
  return `    ${side.padEnd(7)} ${medianOf(slices, costOf).toFixed(2)} ms of CPU  ${perSecond.toFixed(1)}/s  ${shares.join(', ')}`;
}
