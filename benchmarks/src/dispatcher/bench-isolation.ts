import { type Aim, atLeast, atMost } from '../aims.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Road } from './bench-road.ts';
import { startDispatchers } from './dispatcher-process.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import { type OpenFigure, runOpenLoop } from './run-open-loop.ts';
import type { Side } from './sides.ts';

const ENDPOINTS = 200;
const HANGING_EVERY = 10;
const RATE = 500;
const SECONDS = 60;
const WARM_UP_SECONDS = 5;

type Pair = { healthy: OpenFigure; hanging: OpenFigure };

/**
 * What endpoints that never answer cost the others: the same rate first to healthy endpoints alone, then with every
 * tenth hanging. The baseline goes first and is ended, so that its stuck jobs burden nobody; ours comes last, because
 * what hangs keeps it busy for as long as its schedule lasts.
 */
export async function benchIsolation(road: Road, options: BenchOptions): Promise<Aim[]> {
  await using _dispatchers = await startDispatchers(road, options.senders);
  const seconds = options.seconds ?? SECONDS;
  const healthy = await road.register(ENDPOINTS);
  const hanging = await road.register(ENDPOINTS, (index) =>
    index % HANGING_EVERY === 0 ? 'hangs' : 'answers',
  );
  const baseline = await runPair(road, { side: 'baseline', healthy, hanging, seconds });
  await road.baseline[Symbol.asyncDispose]();
  const ours = await runPair(road, { side: 'ours', healthy, hanging, seconds });
  const ratio = ours.hanging.p99Ms / baseline.hanging.p99Ms;
  const slower = ours.hanging.p99Ms / ours.healthy.p99Ms;
  const inTime = ours.hanging.inTime / ours.healthy.inTime;
  console.log(`ours / baseline: p99 of healthy endpoints beside hanging ones ${ratio.toFixed(4)}`);
  return [
    atMost('isolation: p99 of healthy, beside hanging / alone', slower, 2),
    atLeast('isolation: healthy throughput kept, %', inTime * 100, 90),
    atMost('isolation: duplicates', ours.healthy.duplicates + ours.hanging.duplicates, 0),
    atMost('isolation: lost or not yet delivered', ours.healthy.missing + ours.hanging.missing, 0),
  ];
}

type PairInput = {
  side: Side;
  healthy: readonly MerchantEndpoint[];
  hanging: readonly MerchantEndpoint[];
  seconds: number;
};

async function runPair(road: Road, { side, seconds, ...endpoints }: PairInput): Promise<Pair> {
  const alone = { side, name: 'isolation', rate: RATE, endpoints: endpoints.healthy, seconds };
  await runOpenLoop(road, { ...alone, seconds: WARM_UP_SECONDS });
  const healthy = await runOpenLoop(road, alone);
  print(`${side} healthy`, healthy);
  const beside = { ...alone, endpoints: endpoints.hanging, hangingEvery: HANGING_EVERY };
  const hanging = await runOpenLoop(road, beside);
  print(`${side} hanging`, hanging);
  return { healthy, hanging };
}

function print(name: string, figure: OpenFigure): void {
  const { p50Ms, p99Ms, publishP99Ms, inTime, missing, hung, duplicates } = figure;
  console.log(
    `isolation at ${RATE}/s ${name.padEnd(17)} healthy p50 ${p50Ms.toFixed(1)}  p99 ${p99Ms.toFixed(1)} ms  ` +
      `(published: p99 ${publishP99Ms.toFixed(1)} ms)  in time ${(inTime * 100).toFixed(1)} %  not delivered ${missing}  duplicates ${duplicates}  hung ${hung}`,
  );
}
