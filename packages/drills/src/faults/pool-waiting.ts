import pg from 'pg';

import type { Drill } from '../drill.ts';
import { createMerchant } from '../load/merchant.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';

/** More than the connections of charges. */
const READERS = 40;
const NOBODYS_CHARGE = 'GET /charges/00000000-0000-7000-8000-000000000000';

let holder: pg.Client | undefined;
let readers: AbortController | undefined;

/** Every read of charges waits for the lock with a connection of its own, and the others wait for a connection. */
export const poolWaiting: Drill = {
  name: 'pool-waiting',
  purpose: 'the table of charges is locked, as by a migration without a limit',
  alerts: ['PostgresPoolWaiting'],
  cause: async (mesh) => {
    holder = new pg.Client({ connectionString: mesh.stack().postgres_url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('lock table charges.charges in access exclusive mode');
    readers = new AbortController();
    const { key } = await createMerchant(mesh);
    for (let reader = 0; reader < READERS; reader += 1) void read(mesh, key, readers.signal);
  },
  effect: async (mesh, load) => {
    if (load.failures() === 0) throw new Error('no call has failed');
    if ((await mesh.metric('charges', 'fair_share_waiting')) === 0) throw new Error('none waits');
  },
  // As `pg_terminate_backend` ends the session that holds it.
  end: async () => {
    readers?.abort();
    await holder?.end();
  },
  recovered: async (mesh) => {
    if ((await mesh.metric('charges', 'fair_share_waiting')) > 0) throw new Error('some wait');
    const [row] = await mesh.query<{ count: number }>(
      `select count(*)::int from charges.charges
       where status = 'processing' and created_at < now() - interval '10 seconds'`,
    );
    if ((row?.count ?? 0) > 0) throw new Error(`${row?.count} charges are processing`);
  },
};

async function read(mesh: DrillMesh, key: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await mesh.v1(key, { route: NOBODYS_CHARGE }).catch(() => undefined);
  }
}
