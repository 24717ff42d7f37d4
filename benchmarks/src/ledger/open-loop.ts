import { setTimeout as delay } from 'node:timers/promises';

import { createLatencies, type LatencyFigure } from '../latencies.ts';

/** How often what has fallen due is sent; part of every latency, since that counts from the intended time. */
const TICK_MS = 2;
/** What is still under way when the last item was sent gets this long. */
const DRAIN_MS_MAX = 30_000;

export type OpenLoopFigure = LatencyFigure & {
  rate: number;
  sent: number;
  /** Answers that never came. */
  lost: number;
};

export type OpenLoop<Item> = {
  rate: number;
  seconds: number;
  /** Items of the loop's first seconds are not recorded. */
  warmUpSeconds: number;
  make(index: number): Item;
  idOf(item: Item): string;
  /** Sends what has fallen due since the last call; the loop waits for it, the clock does not. */
  send(items: readonly Item[]): Promise<void>;
};

/**
 * Items at a steady rate, whatever the answers do: each has an intended time, and its latency counts from there,
 * so that a stall shows in all the items it delayed (no coordinated omission).
 */
export function createOpenLoop<Item>(options: OpenLoop<Item>) {
  const latencies = createLatencies();
  const intendedMs = new Map<string, number>();
  const perItemMs = 1000 / options.rate;
  let startMs = 0;
  return { run, answered };

  async function run(): Promise<OpenLoopFigure> {
    const total = Math.round(options.rate * (options.seconds + options.warmUpSeconds));
    startMs = performance.now();
    for (let next = 0; next < total;) {
      const due = Math.min(total, Math.floor((performance.now() - startMs) / perItemMs) + 1);
      const items = Array.from({ length: due - next }, (_, offset) => intend(next + offset));
      next = due;
      if (items.length > 0) await options.send(items);
      await delay(TICK_MS);
    }
    const endMs = performance.now() + DRAIN_MS_MAX;
    while (intendedMs.size > 0 && performance.now() < endMs) await delay(TICK_MS);
    return { rate: options.rate, sent: total, lost: intendedMs.size, ...latencies.figure() };
  }

  function intend(index: number): Item {
    const item = options.make(index);
    intendedMs.set(options.idOf(item), startMs + index * perItemMs);
    return item;
  }

  function answered(id: string): void {
    const intended = intendedMs.get(id);
    if (intended === undefined || !intendedMs.delete(id)) return;
    if (intended - startMs < options.warmUpSeconds * 1000) return;
    latencies.record(performance.now() - intended);
  }
}
