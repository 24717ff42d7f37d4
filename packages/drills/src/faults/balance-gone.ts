import type { Drill } from '../drill.ts';
import { type DrillMesh, succeeded } from '../mesh/drill-mesh.ts';
import { findBreaks } from '../mesh/reconcile.ts';

const MISSING_CENTS = -100_000_000;

/** The acquirer lets orders pass all the same; a real one refuses them. */
export const balanceGone: Drill = {
  name: 'balance-gone',
  purpose: 'our balance at the acquirer is gone',
  alerts: ['AcquirerBalanceLow'],
  cause: async (mesh) => await adjustBalance(mesh, MISSING_CENTS),
  effect: async (mesh) => {
    const balance = await mesh.metric('payouts', 'acquirer_balance_cents');
    if (balance >= 0) throw new Error(`the balance is ${balance}`);
  },
  end: async (mesh) => await adjustBalance(mesh, 0),
  recovered: async (mesh) => {
    const balance = await mesh.metric('payouts', 'acquirer_balance_cents');
    if (balance < 0) throw new Error(`the balance is ${balance}`);
  },
};

/** The gauge shows what the last comparison has read. */
async function adjustBalance(mesh: DrillMesh, amount: number): Promise<void> {
  const route = 'PUT /control/balance-adjustment';
  succeeded(route, await mesh.simulator({ route, body: { amount } }));
  await findBreaks(mesh);
}
