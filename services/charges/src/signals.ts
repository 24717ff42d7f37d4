import { createLookSignal } from '@pixmesh/postgres/due-look';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import type { DUE_WORK } from '#due-work.sql.ts';

/** Notified when there is work; made before the loops and before what notifies them. */
export type Signals = Record<keyof typeof DUE_WORK, WakeSignal>;

export function createSignals(): Signals {
  return {
    outbox: createLookSignal(),
    statusChecks: createLookSignal(),
    notices: createLookSignal(),
    itemReturns: createLookSignal(),
    refunds: createLookSignal(),
    lists: createLookSignal(),
    disputeList: createLookSignal(),
  };
}
