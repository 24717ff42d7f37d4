import { counter, durationHistogram, level } from '@pixmesh/telemetry/metrics';

import type { NoTurnReason } from './no-turn-error.ts';

const running = level('fair_share_running', 'Work that has a place, by queue');
const waiting = level('fair_share_waiting', 'Work that waits for its turn, by queue');
const waits = durationHistogram('fair_share_wait_seconds', 'Time until work had its turn');
const refusals = counter('fair_share_refused_total', 'Work that had no turn and never began', []);

/** The measurements of one queue; no account stands in a label. */
export function observeQueue(queue: string) {
  return {
    running: async <T>(work: () => Promise<T>, waitedMs: number): Promise<T> => {
      waits.record(waitedMs / 1000, { queue });
      running.add(1, { queue });
      try {
        return await work();
      } finally {
        running.add(-1, { queue });
      }
    },
    waits: (change: 1 | -1): void => waiting.add(change, { queue }),
    refused: (reason: NoTurnReason): void => refusals.add(1, { queue, reason }),
  };
}
