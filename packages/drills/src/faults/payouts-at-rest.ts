import type { DrillMesh } from '../mesh/drill-mesh.ts';

/** No payout is older than what its way takes. */
export async function payoutsAtRest(mesh: DrillMesh): Promise<void> {
  const [row] = await mesh.query<{ count: number }>(
    `select count(*)::int from payouts.payouts
     where status = 'processing' and created_at < now() - interval '10 seconds'`,
  );
  if ((row?.count ?? 0) > 0) throw new Error(`${row?.count} payouts are processing`);
}
