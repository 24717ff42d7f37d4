import type { Drill } from '../drill.ts';
import { webhooksAtRest } from './at-rest.ts';
import { heldLocks } from './held-locks.ts';

/** Senders live, and none may serve a lane. */
export const lanesHeld: Drill = {
  name: 'lanes-held',
  purpose: 'a session holds the lanes of all deliveries',
  alerts: ['DeliveriesOverdue'],
  ...heldLocks('select from webhook_dispatcher.lanes for update'),
  effect: async (mesh) => {
    const waiting = await mesh.metric('webhook-dispatcher', 'webhook_due_lanes');
    if (waiting === 0) throw new Error('no lane waits');
  },
  recovered: webhooksAtRest,
};
