import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '@pixmesh/testkit/eventually';

import { inParallel } from '@pixmesh/testkit/in-parallel';
import {
  createCharge,
  createKey,
  createMerchant,
  createPayout,
  type Merchant,
  pay,
  statusOf,
} from '../load/merchant.ts';
import { type DrillMesh, succeeded } from '../mesh/drill-mesh.ts';
import { createOperator, type DrillOperator } from '../mesh/operators.ts';

const WORKERS = 16;
const SETTLED_MS_MAX = 600_000;
/** Of each kind of thing that happens after the moment. */
const LOST_EACH = 10;

export type Kept = {
  merchant: Merchant;
  unpaid: string[];
  paid: string[];
  payouts: string[];
  /** Both live at the moment, and are closed after it. */
  keyToRevoke: { keyId: string; key: string };
  operatorToRemove: DrillOperator;
  /** Who acts after the restore. */
  operator: DrillOperator;
};

/** What happened after the moment, by the keys under which merchants can repeat it. */
export type Lost = {
  paidLater: string[];
  charges: Map<string, string>;
  paidCharges: string[];
  payouts: Map<string, string>;
  keyMadeLater: string;
};

/** Everything up to the moment: charges, of which every so many is paid, payouts of that money, keys and operators. */
export async function buildUp(
  mesh: DrillMesh,
  { charges, paidEvery }: { charges: number; paidEvery: number },
): Promise<Kept> {
  const merchant = await createMerchant(mesh);
  const [unpaid, paid, payouts]: [string[], string[], string[]] = [[], [], []];
  await inParallel(WORKERS, charges, async (index) => {
    const id = await createCharge(mesh, merchant, { idempotencyKey: randomUUID() });
    if (index % paidEvery !== 0) {
      unpaid.push(id);
      return;
    }
    await pay(mesh, id);
    paid.push(id);
  });
  await waitForAll(mesh, merchant, { kind: 'charges', ids: paid, status: 'paid' });
  await inParallel(WORKERS, Math.floor(paid.length / 2), async () => {
    payouts.push(await createPayout(mesh, merchant, randomUUID()));
  });
  await waitForAll(mesh, merchant, { kind: 'payouts', ids: payouts, status: 'completed' });
  return {
    merchant,
    unpaid,
    paid,
    payouts,
    keyToRevoke: await createKey(mesh, merchant.applicationId),
    operatorToRemove: await createOperator(mesh, 'Bia'),
    operator: await createOperator(mesh, 'Ana'),
  };
}

/** Everything after it, for so long at least. The broker, the acquirer, merchants and operators know of it; the restore will not. */
export async function liveOn(mesh: DrillMesh, kept: Kept, atLeastMs: number): Promise<Lost> {
  const untilMs = performance.now() + atLeastMs;
  const { merchant, unpaid } = kept;
  const lost: Lost = {
    paidLater: unpaid.slice(0, LOST_EACH),
    charges: new Map(),
    paidCharges: [],
    payouts: new Map(),
    keyMadeLater: (await createKey(mesh, merchant.applicationId)).key,
  };
  for (const id of lost.paidLater) await pay(mesh, id);
  for (let index = 0; index < LOST_EACH; index += 1) {
    const idempotencyKey = randomUUID();
    const id = await createCharge(mesh, merchant, { idempotencyKey });
    lost.charges.set(idempotencyKey, id);
    if (index % 2 === 0) await pay(mesh, id);
    if (index % 2 === 0) lost.paidCharges.push(id);
    const key = randomUUID();
    lost.payouts.set(key, await createPayout(mesh, merchant, key));
  }
  const paid = [...lost.paidLater, ...lost.paidCharges];
  await waitForAll(mesh, merchant, { kind: 'charges', ids: paid, status: 'paid' });
  const payouts = [...lost.payouts.values()];
  await waitForAll(mesh, merchant, { kind: 'payouts', ids: payouts, status: 'completed' });
  await remove(mesh, `keys/${kept.keyToRevoke.keyId}`);
  await remove(mesh, `operators/${kept.operatorToRemove.id}`);
  await delay(Math.max(0, untilMs - performance.now()));
  return lost;
}

export async function waitForAll(
  mesh: DrillMesh,
  merchant: Pick<Merchant, 'key'>,
  { kind, ids, status }: { kind: 'charges' | 'payouts'; ids: readonly string[]; status: string },
): Promise<void> {
  await inParallel(WORKERS, ids.length, async (index) => {
    await eventually(async () => {
      const found = await statusOf(mesh, merchant, `${kind}/${ids[index]}`);
      if (found !== status) throw new Error(`${kind} ${ids[index]} is ${found}, not ${status}`);
    }, SETTLED_MS_MAX);
  });
}

async function remove(mesh: DrillMesh, resource: string): Promise<void> {
  const route = `DELETE /admin/${resource}`;
  succeeded(route, await mesh.admin({ route }));
}
