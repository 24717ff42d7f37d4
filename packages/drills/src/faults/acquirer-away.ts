import type { Drill } from '../drill.ts';
import { succeeded } from '../mesh/drill-mesh.ts';
import { atRest } from './at-rest.ts';

const FAILED_MIN = 5;
/** What an acquirer that is down answers, or does not. */
const RULES = ['issueCharge', 'getCharge', 'sendPayout', 'getPayout'].map((operation) => ({
  operation,
  fault: 'error_before',
  status: 503,
}));

/** Creations end with 500 and are repeated under their keys; what was ordered stays unknown until it is back. */
export const acquirerAway: Drill = {
  name: 'acquirer-away',
  purpose: 'the acquirer answers 503 to everything',
  alerts: ['AcquirerUnavailable'],
  cause: async (mesh) => {
    const route = 'PUT /control/faults';
    succeeded(route, await mesh.simulator({ route, body: { rules: RULES } }));
  },
  effect: async (mesh, load) => {
    const [row] = await mesh.query<{ count: number }>(
      "select count(*)::int from charges.charges where status = 'processing'",
    );
    if ((row?.count ?? 0) === 0) throw new Error('no charge is processing');
    if (load.failures() < FAILED_MIN) throw new Error(`${load.failures()} calls failed`);
  },
  end: async (mesh) => {
    const route = 'DELETE /control/faults';
    succeeded(route, await mesh.simulator({ route }));
  },
  recovered: atRest('charges'),
};
