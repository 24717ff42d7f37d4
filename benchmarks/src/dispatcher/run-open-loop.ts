import { setTimeout as delay } from 'node:timers/promises';

import type { Road } from './bench-road.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import type { PhaseFigure } from './phase-record.ts';
import type { Side } from './sides.ts';

const POLL_MS = 20;
const DRAIN_MS_MAX = 30_000;

let phases = 0;

/** A name that no other phase of this run has. */
export function nextPhase(name: string): string {
  phases += 1;
  return `${name}-${phases}`;
}

export type OpenPhase = {
  side: Side;
  name: string;
  endpoints: readonly MerchantEndpoint[];
  rate: number;
  seconds: number;
  /** Every so many-th endpoint hangs; none where it is absent. */
  hangingEvery?: number;
};

export type OpenFigure = PhaseFigure & {
  missing: number;
  /** Deliveries to healthy endpoints within the phase's seconds, by the events that were due for them. */
  inTime: number;
  /** How late the broker acknowledged events: what of the latency is not the deliverer's. */
  publishP99Ms: number;
};

/**
 * Events at a steady rate, whatever becomes of them: each latency counts from the time at which the event was meant
 * to be published, so that a stall shows in all the events it delayed. What never arrives counts with its age.
 */
export async function runOpenLoop(road: Road, options: OpenPhase): Promise<OpenFigure> {
  const { name, hangingEvery = 0, ...input } = options;
  const phase = nextPhase(`${name}-${input.side}`);
  const publishing = road.producer.call('openLoop', { ...input, phase });
  await delay(input.seconds * 1000);
  const arrivedInTime = await road.receivers.call('count', { phase });
  const { publishP99Ms, ...published } = await publishing;
  const { sent } = published;
  const due = hangingEvery === 0 ? sent : sent - Math.ceil(sent / hangingEvery);
  await untilArrived(road, { phase, count: due });
  const figure = await road.receivers.call('close', { phase, ...published, hangingEvery });
  return { ...figure, inTime: arrivedInTime / due, publishP99Ms };
}

/** Waits for the last of a phase, for a while. */
export async function untilArrived(
  road: Road,
  { phase, count }: { phase: string; count: number },
): Promise<void> {
  const endMs = performance.now() + DRAIN_MS_MAX;
  while (performance.now() < endMs) {
    if ((await road.receivers.call('count', { phase })) >= count) return;
    await delay(POLL_MS);
  }
}
