import { setTimeout as delay } from 'node:timers/promises';

import { createLatencies, type LatencyFigure } from '../latencies.ts';

const TICK_MS = 2;

/**
 * Does something once; answers how long it took since `intendedMs` (of `performance.now()`), null for an error. It ends
 * by itself, so it has a limit of its own.
 */
export type SteadyCall = (intendedMs: number) => Promise<number | null>;

export type SteadyFigure = LatencyFigure & { calls: number; errors: number };

/**
 * Calls at a steady rate, whatever their answers do: each latency counts from the time at which the call was meant to
 * be made, so that a stall shows in all the calls that it delayed.
 */
export async function makeSteadyCalls(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  call: SteadyCall,
): Promise<SteadyFigure> {
  const latencies = createLatencies();
  const total = perSecond * seconds;
  const startMs = performance.now();
  const under: Promise<void>[] = [];
  let errors = 0;
  while (under.length < total) {
    const due = Math.floor(((performance.now() - startMs) / 1000) * perSecond) + 1;
    while (under.length < Math.min(due, total)) {
      under.push(makeOne(startMs + (under.length / perSecond) * 1000));
    }
    await delay(TICK_MS);
  }
  await Promise.all(under);
  return { ...latencies.figure(), calls: total, errors };

  async function makeOne(intendedMs: number): Promise<void> {
    const ms = await call(intendedMs).catch(() => null);
    if (ms === null) errors += 1;
    else latencies.record(ms);
  }
}
