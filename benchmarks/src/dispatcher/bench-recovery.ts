import { type Aim, atMost } from '../aims.ts';
import { describeLatencies } from '../latencies.ts';
import { medianOf, sumOf } from '../rounds.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Road } from './bench-road.ts';
import { startDispatchers } from './dispatcher-process.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import { missDeliveries, requestRecovery, untilRecovered } from './missed-deliveries.ts';
import { type OpenFigure, runOpenLoop } from './run-open-loop.ts';

const ENDPOINTS = 200;
const MISSED = 10_000;
const LIVE_RATE = 200;
/** As fast as live events come: a recovery then is half of all that is sent. */
const RECOVERED_PER_SECOND = 200;
const SECONDS = MISSED / RECOVERED_PER_SECOND;
const ROUNDS = 3;
const WARM_UP_SECONDS = 5;

type Round = {
  alone: OpenFigure;
  beside: OpenFigure;
  recovered: number;
  /** Of what was missed: what came more than once, and what never came. */
  doubled: number;
  lost: number;
};

/**
 * What the recovery of an endpoint's 10,000 missed deliveries costs live ones, its own among them: the same rate
 * alone, then beside the recovery. The baseline has no counterpart.
 */
export async function benchRecovery(road: Road, options: BenchOptions): Promise<Aim[]> {
  await using _dispatchers = await startDispatchers(road, options.senders);
  const endpoints = await road.register(ENDPOINTS);
  await runLive(road, { endpoints, seconds: WARM_UP_SECONDS });
  const seconds = options.seconds ?? SECONDS;
  const rounds: Round[] = [];
  for (const endpoint of endpoints.slice(0, ROUNDS)) {
    const round = await runRound(road, { endpoints, endpoint, seconds });
    print(rounds.length + 1, round);
    rounds.push(round);
  }
  return aimsOf(rounds);
}

async function runRound(
  road: Road,
  input: { endpoints: readonly MerchantEndpoint[]; endpoint: MerchantEndpoint; seconds: number },
): Promise<Round> {
  const { endpoint } = input;
  const missed = await missDeliveries(road, { endpoint, count: MISSED });
  const alone = await runLive(road, input);
  const id = await requestRecovery(road, { endpoint, ratePerSecond: RECOVERED_PER_SECOND });
  const beside = await runLive(road, input);
  const recovered = await untilRecovered(road, id);
  const seen = await road.receivers.call('close', missed);
  return { alone, beside, recovered, doubled: seen.duplicates, lost: seen.missing };
}

function runLive(
  road: Road,
  { endpoints, seconds }: { endpoints: readonly MerchantEndpoint[]; seconds: number },
): Promise<OpenFigure> {
  return runOpenLoop(road, { side: 'ours', name: 'live', endpoints, rate: LIVE_RATE, seconds });
}

function print(number: number, { alone, beside, recovered, doubled, lost }: Round): void {
  const figures = (figure: OpenFigure) =>
    `${describeLatencies(figure)}  published p99 ${figure.publishP99Ms.toFixed(1)} ms`;
  console.log(
    `live at ${LIVE_RATE}/s ${number}  alone ${figures(alone)}  beside a recovery at ${RECOVERED_PER_SECOND}/s ` +
      `${figures(beside)}  recovered ${recovered}  doubled ${doubled}  lost ${lost}`,
  );
}

function aimsOf(rounds: readonly Round[]): Aim[] {
  const wrong = ({ alone, beside, doubled, lost }: Round) =>
    alone.duplicates + alone.missing + beside.duplicates + beside.missing + doubled + lost;
  const ratio = ({ alone, beside }: Round) => beside.p99Ms / alone.p99Ms;
  return [
    atMost('recovery: p99 of live, beside / alone', medianOf(rounds, ratio), 1.2),
    atMost('recovery: not recovered', MISSED * ROUNDS - sumOf(rounds, (one) => one.recovered), 0),
    atMost('recovery: duplicates and lost, live and recovered', sumOf(rounds, wrong), 0),
  ];
}
