import { createWakeSignal, type WakeSignal } from '@pixmesh/service/wake-signal';

/** Notified when there is work; made before the loops and before what notifies them. */
export type Signals = Record<
  'outbox' | 'statusChecks' | 'notices' | 'itemReturns' | 'refunds',
  WakeSignal
>;

export function createSignals(): Signals {
  return {
    outbox: createWakeSignal(),
    statusChecks: createWakeSignal(),
    notices: createWakeSignal(),
    itemReturns: createWakeSignal(),
    refunds: createWakeSignal(),
  };
}
