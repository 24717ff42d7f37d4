import { createPolledSignal } from '@pixmesh/postgres/due-work-poll';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import type { DUE_WORK } from '#due-work.sql.ts';

/** Notified when there is work; made before the loops and before what notifies them. */
export type Signals = Record<keyof typeof DUE_WORK, WakeSignal>;

export function createSignals(): Signals {
  return {
    outbox: createPolledSignal(),
    statusChecks: createPolledSignal(),
    notices: createPolledSignal(),
    itemReturns: createPolledSignal(),
    refunds: createPolledSignal(),
    lists: createPolledSignal(),
    disputeList: createPolledSignal(),
  };
}
