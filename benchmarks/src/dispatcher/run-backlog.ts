import { setTimeout as delay } from 'node:timers/promises';

import type { Road } from './bench-road.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import type { PhaseFigure } from './phase-record.ts';
import { nextPhase, untilArrived } from './run-open-loop.ts';
import type { Side } from './sides.ts';

/** Enough that nobody ever waits for events, and not so much that the end of a phase takes long. */
const AHEAD_MAX = 4_000;
const PROGRESS_MS = 50;

export type Backlog = {
  /** Deliveries per second from now on, for so long. */
  rateOver(seconds: number): Promise<number>;
  /** Publishes no more and waits until everything has arrived. */
  finish(): Promise<PhaseFigure & { missing: number }>;
};

/** A topic that is always ahead of who delivers it: what is measured is capacity. */
export function startBacklog(
  road: Road,
  input: { side: Side; name: string; endpoints: readonly MerchantEndpoint[] },
): Backlog {
  const phase = nextPhase(`${input.name}-${input.side}`);
  const publishing = road.producer.call('backlog', { ...input, phase, aheadMax: AHEAD_MAX });
  const reporting = new AbortController();
  const reported = report();
  return { rateOver, finish };

  async function report(): Promise<void> {
    while (!reporting.signal.aborted) {
      await road.producer.call('delivered', { count: await count() });
      await delay(PROGRESS_MS);
    }
  }

  async function rateOver(seconds: number): Promise<number> {
    const before = await count();
    const sinceMs = performance.now();
    await delay(seconds * 1000);
    const delivered = (await count()) - before;
    return (delivered / (performance.now() - sinceMs)) * 1000;
  }

  async function finish(): Promise<PhaseFigure & { missing: number }> {
    await road.producer.call('stop', {});
    const published = await publishing;
    await untilArrived(road, { phase, count: published.sent });
    reporting.abort();
    await reported;
    return await road.receivers.call('close', { phase, ...published, hangingEvery: 0 });
  }

  function count(): Promise<number> {
    return road.receivers.call('count', { phase });
  }
}
