import { type Aim, atLeast, atMost } from '../aims.ts';
import { describeLatencies } from '../latencies.ts';
import { median } from '../rounds.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Road } from './bench-road.ts';
import { startDispatchers } from './dispatcher-process.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import type { PhaseFigure } from './phase-record.ts';
import { startBacklog } from './run-backlog.ts';
import { runOpenLoop, untilArrived } from './run-open-loop.ts';
import { clearWaiting, storeDueRetries, storeWaiting } from './stored-retries.ts';

const ENDPOINTS = 200;
const FUTURE = 1_000_000;
const BLOCKED = 100_000;
const ROUNDS = 3;
const SECONDS = 12;
const WARM_UP_SECONDS = 3;
/** Before each series: the first rounds of a process are its slowest, and those after a million writes. */
const SERIES_WARM_UP_SECONDS = 20;
const LIVE_RATE = 200;
const RETRIES_PER_SECOND = 100;
const RETRIES_SECONDS = 30;
/** From the storing of a retry until it is due. */
const RETRIES_IN_SECONDS = 15;

type Rounds = { perSecond: number[]; wrong: number };

/**
 * What a million retries that wait for their time, and a hundred thousand deliveries that are due behind one receiver
 * that hangs, cost fresh events; and how late a retry is that falls due among them. Measured without them, with them,
 * and without them again, so that a drift of the machine meets both.
 */
export async function benchRetries(road: Road, options: BenchOptions): Promise<Aim[]> {
  await using _dispatchers = await startDispatchers(road, options.senders);
  const endpoints = await road.register(ENDPOINTS);
  const [blockedEndpoint] = await road.register(1, () => 'hangs');
  if (blockedEndpoint === undefined) throw new Error('no endpoint');
  const rounds = { endpoints, seconds: options.seconds ?? SECONDS };
  const before = await measure(road, rounds);
  await storeWaiting(road, { future: FUTURE, blocked: BLOCKED, blockedEndpoint });
  const beside = await measure(road, rounds);
  const retries = await measureLateness(road, endpoints);
  await clearWaiting(road);
  const after = await measure(road, rounds);

  const alone = (median(before.perSecond) + median(after.perSecond)) / 2;
  const kept = median(beside.perSecond) / alone;
  const wrong = before.wrong + beside.wrong + after.wrong;
  print({ before, beside, after, retries });
  return [
    atLeast('retries: fresh deliveries/s beside them, % of without', kept * 100, 95),
    atMost('retries: lateness p99, ms', retries.p99Ms, 1_000),
    atMost('retries: duplicates and lost', wrong + retries.duplicates + retries.missing, 0),
  ];
}

async function measure(
  road: Road,
  { endpoints, seconds }: { endpoints: readonly MerchantEndpoint[]; seconds: number },
): Promise<Rounds> {
  const result: Rounds = { perSecond: [], wrong: 0 };
  for (let number = 0; number < ROUNDS; number += 1) {
    const backlog = startBacklog(road, { side: 'ours', name: 'fresh', endpoints });
    await backlog.rateOver(number === 0 ? SERIES_WARM_UP_SECONDS : WARM_UP_SECONDS);
    result.perSecond.push(await backlog.rateOver(seconds));
    const { duplicates, missing } = await backlog.finish();
    result.wrong += duplicates + missing;
  }
  return result;
}

/** Beside live events to the same endpoints, which go before them. */
async function measureLateness(
  road: Road,
  endpoints: readonly MerchantEndpoint[],
): Promise<PhaseFigure & { missing: number }> {
  const retries = await storeDueRetries(road, {
    endpoints,
    perSecond: RETRIES_PER_SECOND,
    seconds: RETRIES_SECONDS,
    inSeconds: RETRIES_IN_SECONDS,
  });
  const seconds = RETRIES_IN_SECONDS + RETRIES_SECONDS;
  await runOpenLoop(road, { side: 'ours', name: 'live', endpoints, rate: LIVE_RATE, seconds });
  await untilArrived(road, { phase: retries.phase, count: retries.sent });
  return await road.receivers.call('close', retries);
}

type Figures = { before: Rounds; beside: Rounds; after: Rounds; retries: PhaseFigure };

function print({ before, beside, after, retries }: Figures): void {
  const list = ({ perSecond }: Rounds) => perSecond.map((rate) => rate.toFixed(0)).join(', ');
  console.log(
    `fresh deliveries/s: without ${list(before)}  beside ${FUTURE} future retries and ${BLOCKED} due in a blocked lane ` +
      `${list(beside)}  without again ${list(after)}`,
  );
  console.log(
    `retries that fall due at ${RETRIES_PER_SECOND}/s among them: late ${describeLatencies(retries)}`,
  );
}
