import type { Drill } from '../drill.ts';
import { atRest } from './at-rest.ts';

/** Payouts are refused for the time being, and repeated under their keys; nothing else notices. */
export const serviceFrozen: Drill = {
  name: 'service-frozen',
  purpose: 'the only process of payouts is frozen',
  alerts: ['ServiceDown'],
  cause: async (mesh) => mesh.signal('payouts', 'SIGSTOP'),
  effect: async (_mesh, load) => {
    if (load.failures() === 0) throw new Error('no call has failed');
  },
  end: async (mesh) => mesh.signal('payouts', 'SIGCONT'),
  recovered: atRest('payouts'),
};
