import type { Drill } from '../drill.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';

/** Of a light load, so many are on their way at any time. */
const UNDELIVERED_MAX = 3;

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

/** Throws while more webhooks are missing than are usually on their way. */
export const webhooksAtRest: Drill['recovered'] = async (_mesh, load) => {
  const { length } = await load.undelivered();
  if (length > UNDELIVERED_MAX) throw new Error(`${length} webhooks are missing`);
};
