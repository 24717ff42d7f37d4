import type { Drill } from '../drill.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';
import { outboxDrained } from './outbox-age.ts';

/** It takes connections and answers nothing, as a server does whose disk hangs. */
export const postgresFrozen: Drill = {
  name: 'postgres-frozen',
  purpose: 'Postgres does not answer',
  alerts: ['PostgresDown'],
  cause: async (mesh) => mesh.signalAll('postgres', 'SIGSTOP'),
  effect: async (mesh, load) => {
    if (load.failures() === 0) throw new Error('no call has failed');
    if ((await isUp(mesh)) > 0) throw new Error('charges gets answers');
  },
  end: async (mesh) => mesh.signalAll('postgres', 'SIGCONT'),
  recovered: async (mesh) => {
    if ((await isUp(mesh)) === 0) throw new Error('charges gets no answer');
    await outboxDrained(mesh);
  },
};

async function isUp(mesh: DrillMesh): Promise<number> {
  return await mesh.metric('charges', 'postgres_up');
}
