import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';

import type { Drill } from '../drill.ts';
import { createCharge, createMerchant, type Merchant, pay, statusOf } from '../load/merchant.ts';
import { type DrillMesh, type Json, succeeded } from '../mesh/drill-mesh.ts';
import { actAs, createOperator } from '../mesh/operators.ts';
import { findBreaks } from '../mesh/reconcile.ts';

const PAID_MS_MAX = 60_000;
const INVENTED_CENTS = 100;

let owner: Merchant | undefined;

/** Money that no journal moved: its account pays nothing out until an operator has looked. */
export const balanceChanged: Drill = {
  name: 'balance-changed',
  purpose: 'a balance is changed by SQL',
  alerts: ['LedgerUnbalanced', 'PayoutsStopped', 'ReconciliationBreaks'],
  cause: async (mesh) => {
    // At rest: the journals of an account in use would go on from the wrong balance.
    owner = await createMerchant(mesh);
    const { key } = owner;
    const id = await createCharge(mesh, { key }, { idempotencyKey: randomUUID() });
    await pay(mesh, id);
    await eventually(async () => {
      const status = await statusOf(mesh, { key }, `charges/${id}`);
      if (status !== 'paid') throw new Error(`the charge is ${status}`);
    }, PAID_MS_MAX);
    await addToBalance(mesh, INVENTED_CENTS);
    await findBreaks(mesh);
  },
  effect: async (mesh) => {
    if ((await stopsOf(mesh)).length === 0) throw new Error('its payouts are not stopped');
  },
  end: async (mesh) => {
    await addToBalance(mesh, -INVENTED_CENTS);
    const breaks = await findBreaks(mesh);
    if (breaks.length > 0) throw new Error(breaks.join(', '));
    const operator = await createOperator(mesh, 'Ana');
    const route = 'POST /admin/payouts/resume';
    await actAs(mesh, operator, { route, body: { account_id: owner?.accountId } });
  },
  recovered: async (mesh) => {
    if ((await stopsOf(mesh)).length > 0) throw new Error('its payouts are stopped');
  },
};

async function addToBalance(mesh: DrillMesh, cents: number): Promise<void> {
  await mesh.query('update ledger.accounts set available = available + $1 where account_id = $2', [
    cents,
    owner?.accountId,
  ]);
}

async function stopsOf(mesh: DrillMesh): Promise<Json[]> {
  const route = `GET /admin/payouts/stops?status=in_force&account_id=${owner?.accountId}`;
  return succeeded(route, await mesh.admin({ route })).body['data'] as Json[];
}
