import { setTimeout as delay } from 'node:timers/promises';

import { type Aim, atLeast, atMost } from '../aims.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Road } from './bench-road.ts';
import { type Dispatchers, startDispatchers } from './dispatcher-process.ts';
import { type Backlog, startBacklog } from './run-backlog.ts';

const ENDPOINTS = 200;
const SENDERS = [1, 2, 4];
const SECONDS = 10;
/** After a sender has joined. */
const SETTLE_MS = 3_000;
/** So few that sends in flight are the limit and not the machine: 32 answers after 200 ms are 160 a second. */
const TUNING = { DELIVERY_IN_FLIGHT_MAX: '32' };

/**
 * Receivers that take 200 ms: twice the senders, twice the deliveries, and none lost or doubled as they join and leave.
 */
export async function benchScaling(road: Road, options: BenchOptions): Promise<Aim[]> {
  await using dispatchers = await startDispatchers(road, 1, TUNING);
  const endpoints = await road.register(ENDPOINTS, () => 'slow');
  const backlog = startBacklog(road, { side: 'ours', name: 'scaling', endpoints });
  const rates = await measureRates(dispatchers, backlog, options.seconds ?? SECONDS);
  await dispatchers.leave('sender 4');
  const { duplicates, missing } = await backlog.finish();
  return [
    ...rates.slice(1).map((rate, index) => {
      const step = `${SENDERS[index]} -> ${SENDERS[index + 1]}`;
      return atLeast(`scaling: ${step} senders, times`, rate / (rates[index] ?? 0), 1.9);
    }),
    atMost('scaling: duplicates as senders join and leave', duplicates, 0),
    atMost('scaling: lost', missing, 0),
  ];
}

async function measureRates(
  dispatchers: Dispatchers,
  backlog: Backlog,
  seconds: number,
): Promise<number[]> {
  const rates: number[] = [];
  let running = 1;
  for (const senders of SENDERS) {
    for (; running < senders; running += 1) {
      await dispatchers.join(`sender ${running + 1}`, 'sender');
    }
    await delay(SETTLE_MS);
    const rate = await backlog.rateOver(seconds);
    console.log(`scaling ${senders} senders ${rate.toFixed(0).padStart(6)}/s`);
    rates.push(rate);
  }
  return rates;
}
