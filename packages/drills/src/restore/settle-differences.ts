import { eventually } from '@pixmesh/testkit/eventually';

import { createCharge, createPayout } from '../load/merchant.ts';
import { type DrillMesh, type Json, succeeded } from '../mesh/drill-mesh.ts';
import { actAs } from '../mesh/operators.ts';
import { findBreaks } from '../mesh/reconcile.ts';
import type { Report } from '../report.ts';
import { type Kept, type Lost, waitForAll } from './lost-period.ts';

/** Differences go as status checks and outcomes come in. */
const GREEN_MS_MAX = 300_000;

type Happened = { kept: Kept; lost: Lost };

/**
 * What an operator does with a restored installation, in the order of the guide. Payouts go on once nothing differs.
 * Answers what still differs from the acquirer.
 */
export async function settleDifferences(
  report: Report,
  mesh: DrillMesh,
  { kept, lost }: Happened,
): Promise<string[]> {
  const { merchant } = kept;
  await report.step('charges that were paid after the moment are found', () =>
    waitForAll(mesh, merchant, { kind: 'charges', ids: lost.paidLater, status: 'paid' }),
  );
  await report.step('payouts that were sent after the moment are found', () =>
    expectListed(mesh, [...lost.payouts.values()]),
  );
  report.note(`listed: ${(await findBreaks(mesh)).join(', ')}`);
  await report.step('money without an owner is given to it', () =>
    acceptSuspense(mesh, { kept, lost }),
  );
  await report.step('merchants repeat their calls', () => repeatCalls(mesh, { kept, lost }));
  await report.step('repeated payouts are approved and checked, none is sent', () =>
    adoptPayouts(mesh, { kept, lost }),
  );
  let found: string[] = [];
  await report.step('green', () =>
    eventually(async () => {
      found = await findBreaks(mesh);
      if (found.length > 0) throw new Error(found.join(', '));
    }, GREEN_MS_MAX).catch(() => undefined),
  );
  await actAs(mesh, kept.operator, { route: 'POST /admin/payouts/resume', body: {} });
  return found;
}

/** Each order that the acquirer has and we have not. */
async function expectListed(mesh: DrillMesh, payouts: readonly string[]): Promise<void> {
  await eventually(async () => {
    const breaks = await findBreaks(mesh);
    const missing = payouts.filter((id) => {
      const names = [id, id.replaceAll('-', '')];
      return !breaks.some(
        (one) => one.startsWith('payout ') && names.some((name) => one.endsWith(name)),
      );
    });
    if (missing.length > 0) throw new Error(`not listed: ${missing.join(', ')}`);
  }, GREEN_MS_MAX);
}

/** The Pix of charges that nobody knows any more. */
async function acceptSuspense(mesh: DrillMesh, { kept, lost }: Happened): Promise<void> {
  await eventually(async () => {
    const route = 'GET /admin/suspense?status=open&limit=100';
    const items = succeeded(route, await mesh.admin({ route })).body['data'] as Json[];
    if (items.length < lost.paidCharges.length) throw new Error(`${items.length} items`);
    for (const { id } of items) {
      const body = { action: 'accept', account_id: kept.merchant.accountId };
      await actAs(mesh, kept.operator, {
        route: `POST /admin/suspense/${String(id)}/resolve`,
        body,
      });
    }
  }, GREEN_MS_MAX);
}

/** Under the keys that they used: the same ids come of it. */
async function repeatCalls(mesh: DrillMesh, { kept, lost }: Happened): Promise<void> {
  for (const [idempotencyKey, id] of lost.charges) {
    const again = await createCharge(mesh, kept.merchant, { idempotencyKey });
    if (again !== id) throw new Error(`charge ${id} came back as ${again}`);
  }
  for (const [idempotencyKey, id] of lost.payouts) {
    const again = await createPayout(mesh, kept.merchant, idempotencyKey);
    if (again !== id) throw new Error(`payout ${id} came back as ${again}`);
  }
}

/** Payouts are stopped, so nothing is ordered: a status check finds each at the acquirer, carried out. */
async function adoptPayouts(mesh: DrillMesh, { kept, lost }: Happened): Promise<void> {
  const ids = [...lost.payouts.values()];
  for (const id of ids) {
    await actAs(mesh, kept.operator, { route: `POST /admin/payouts/${id}/approve` });
    await actAs(mesh, kept.operator, { route: `POST /admin/payouts/${id}/check` });
  }
  await waitForAll(mesh, kept.merchant, { kind: 'payouts', ids, status: 'completed' });
}
