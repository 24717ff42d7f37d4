import { counter, durationHistogram, observedGauge } from '@pixmesh/telemetry/metrics';

import type { NoTurnReason } from './no-turn-error.ts';

type Work = { running: number; waiting: number };

/** By name of the queue: those of the same name are counted together. Read at a scrape and not written at each turn. */
const queues = new Map<string, Work>();

observedGauge('fair_share_running', 'Work that has a place, by queue', async () =>
  byQueue(({ running }) => running),
);
observedGauge('fair_share_waiting', 'Work that waits for its turn, by queue', async () =>
  byQueue(({ waiting }) => waiting),
);
const waits = durationHistogram('fair_share_wait_seconds', 'Time until work had its turn');
const refusals = counter('fair_share_refused_total', 'Work that had no turn and never began', []);

/** The measurements of one queue; no account stands in a label. */
export function observeQueue(queue: string) {
  const work = queues.get(queue) ?? { running: 0, waiting: 0 };
  queues.set(queue, work);
  const labels = { queue };
  return {
    running: async <T>(run: () => Promise<T>, waitedMs: number): Promise<T> => {
      waits.record(waitedMs / 1000, labels);
      work.running += 1;
      try {
        return await run();
      } finally {
        work.running -= 1;
      }
    },
    waits: (change: 1 | -1): void => {
      work.waiting += change;
    },
    refused: (reason: NoTurnReason): void => refusals.add(1, { queue, reason }),
  };
}

function byQueue(count: (work: Work) => number) {
  return [...queues].map(([queue, work]) => ({ value: count(work), attributes: { queue } }));
}
