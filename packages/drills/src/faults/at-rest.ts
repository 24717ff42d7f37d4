import type { DrillMesh } from '../mesh/drill-mesh.ts';

/** Throws while some of them are on their way for longer than that takes. */
export function atRest(resource: 'charges' | 'payouts'): (mesh: DrillMesh) => Promise<void> {
  return async (mesh) => {
    const [row] = await mesh.query<{ count: number }>(
      `select count(*)::int from ${resource}.${resource}
       where status = 'processing' and created_at < now() - interval '10 seconds'`,
    );
    if ((row?.count ?? 0) > 0) throw new Error(`${row?.count} ${resource} are processing`);
  };
}
