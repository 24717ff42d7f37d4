import { setTimeout as delay } from 'node:timers/promises';

import { type Aim, atMost } from '../aims.ts';
import { describeLatencies } from '../latencies.ts';
import { describeRatios, median, medianOf, runInTurns, sumOf } from '../rounds.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Road } from './bench-road.ts';
import { startDispatchers } from './dispatcher-process.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import { type OpenFigure, runOpenLoop } from './run-open-loop.ts';
import { type Side, SIDES } from './sides.ts';

const ENDPOINTS = 200;
const RATE = 200;
const SECONDS = 30;
const ROUNDS = 3;
const WARM_UP_SECONDS = 5;
const IDLE_SAMPLES = 20;
const PAUSE_MS = 5_000;

/** From the time at which an event was meant to be published to its receiver, at a steady rate and after a pause. */
export async function benchLatency(road: Road, options: BenchOptions): Promise<Aim[]> {
  await using _dispatchers = await startDispatchers(road, options.senders);
  const endpoints = await road.register(ENDPOINTS);
  const rounds = await runRounds(road, endpoints, (options.seconds ?? SECONDS) / ROUNDS);
  const idleMs = await measureIdle(road, endpoints);
  return [...aimsOfRate(rounds), ...aimsOfIdle(idleMs)];
}

async function runRounds(
  road: Road,
  endpoints: readonly MerchantEndpoint[],
  seconds: number,
): Promise<Record<Side, OpenFigure[]>> {
  const run = (side: Side, length: number) =>
    runOpenLoop(road, { side, name: 'latency', endpoints, rate: RATE, seconds: length });
  for (const side of SIDES) await run(side, WARM_UP_SECONDS);
  return await runInTurns(SIDES, ROUNDS, async (side, round) =>
    print(`${side} ${round}`, await run(side, seconds)),
  );
}

/** One event at a time, each after a pause in which everything has come to rest. */
async function measureIdle(road: Road, endpoints: readonly MerchantEndpoint[]): Promise<number[]> {
  const samples: number[] = [];
  for (let number = 0; number < IDLE_SAMPLES; number += 1) {
    await delay(PAUSE_MS);
    const phase = { side: 'ours', name: 'idle', endpoints, rate: 1, seconds: 1 } as const;
    samples.push((await runOpenLoop(road, phase)).maxMs);
  }
  return samples;
}

function print(name: string, figure: OpenFigure): OpenFigure {
  const { publishP99Ms, missing, duplicates } = figure;
  console.log(
    `latency at ${RATE}/s ${name.padEnd(11)} ${describeLatencies(figure)}  ` +
      `(published: p99 ${publishP99Ms.toFixed(1)} ms)  duplicates ${duplicates}  lost ${missing}`,
  );
  return figure;
}

function aimsOfRate({ ours, baseline }: Record<Side, OpenFigure[]>): Aim[] {
  const middle = (figure: 'p50Ms' | 'p95Ms' | 'p99Ms') => medianOf(ours, (one) => one[figure]);
  console.log(`ours / baseline: p50 ${describeRatios(ours, baseline, ({ p50Ms }) => p50Ms)}`);
  console.log(`ours / baseline: p99 ${describeRatios(ours, baseline, ({ p99Ms }) => p99Ms)}`);
  const wrong = sumOf(ours, ({ missing, duplicates }) => missing + duplicates);
  return [
    atMost(`latency at ${RATE}/s: p50, ms`, middle('p50Ms'), 20),
    atMost(`latency at ${RATE}/s: p95, ms`, middle('p95Ms'), 60),
    atMost(`latency at ${RATE}/s: p99, ms`, middle('p99Ms'), 120),
    atMost(`latency at ${RATE}/s: duplicates and lost`, wrong, 0),
  ];
}

function aimsOfIdle(samples: readonly number[]): Aim[] {
  const maxMs = Math.max(...samples);
  console.log(`idle: first event p50 ${median(samples).toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`);
  return [atMost(`idle: first of ${samples.length} events, the slowest, ms`, maxMs, 50)];
}
