import type { Drill } from '../drill.ts';
import { succeeded } from '../mesh/drill-mesh.ts';
import { payoutsAtRest } from './payouts-at-rest.ts';

const RULES = ['sendPayout', 'getPayout'].map((operation) => ({
  operation,
  fault: 'error_before',
  status: 503,
}));
/** Far below what is due. */
const MISSING_CENTS = -100_000_000;

/** Charges are paid as ever; payouts wait with their money held. */
export const sendsRefused: Drill = {
  name: 'sends-refused',
  purpose: 'the acquirer takes no payouts, and our balance there is gone',
  alerts: ['AcquirerUnavailable', 'PayoutsOverdue', 'AcquirerBalanceLow'],
  cause: async (mesh) => {
    const faults = 'PUT /control/faults';
    succeeded(faults, await mesh.simulator({ route: faults, body: { rules: RULES } }));
    const balance = 'PUT /control/balance-adjustment';
    const body = { amount: MISSING_CENTS };
    succeeded(balance, await mesh.simulator({ route: balance, body }));
  },
  effect: async (mesh) => {
    if ((await mesh.metric('payouts', 'payouts_unsent')) === 0) throw new Error('none is overdue');
  },
  end: async (mesh) => {
    const balance = 'PUT /control/balance-adjustment';
    succeeded(balance, await mesh.simulator({ route: balance, body: { amount: 0 } }));
    const faults = 'DELETE /control/faults';
    succeeded(faults, await mesh.simulator({ route: faults }));
  },
  recovered: async (mesh) => {
    if ((await mesh.metric('payouts', 'payouts_unsent')) > 0) throw new Error('some are overdue');
    await payoutsAtRest(mesh);
  },
};
