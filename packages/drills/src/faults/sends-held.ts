import type { Drill } from '../drill.ts';
import { atRest } from './at-rest.ts';
import { heldLocks } from './held-locks.ts';

const payoutsAtRest = atRest('payouts');

/** Payouts are accepted, and wait with their money held. */
export const sendsHeld: Drill = {
  name: 'sends-held',
  purpose: 'a session holds the slots of all sends',
  alerts: ['PayoutsOverdue'],
  ...heldLocks('select from payouts.send_slots for update'),
  effect: async (mesh) => {
    if ((await mesh.metric('payouts', 'payouts_unsent')) === 0) throw new Error('none is overdue');
  },
  recovered: async (mesh) => {
    if ((await mesh.metric('payouts', 'payouts_unsent')) > 0) throw new Error('some are overdue');
    await payoutsAtRest(mesh);
  },
};
