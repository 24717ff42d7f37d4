import type { Drill } from '../drill.ts';
import { heldLocks } from './held-locks.ts';

const AT_REST = 3;

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
  recovered: async (_mesh, load) => {
    const { length } = await load.undelivered();
    if (length > AT_REST) throw new Error(`${length} webhooks are missing`);
  },
};
