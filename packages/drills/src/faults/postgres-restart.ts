import type { Drill } from '../drill.ts';
import { outboxDrained } from './outbox-age.ts';

let killed: number | undefined;

/** Killed, not stopped: it recovers from its log, and every connection is gone. */
export const postgresRestart: Drill = {
  name: 'postgres-restart',
  purpose: 'Postgres is killed',
  alerts: [],
  cause: async (mesh) => {
    killed = mesh.stack().pids['postgres'];
    mesh.signal('postgres', 'SIGKILL');
  },
  effect: async (mesh) => {
    const pid = mesh.stack().pids['postgres'];
    if (pid === undefined || pid === killed) throw new Error('it is the same process');
  },
  // The supervisor starts it again, as a cluster's operator would.
  end: async () => undefined,
  recovered: async (mesh) => {
    await mesh.query('select 1');
    await outboxDrained(mesh);
  },
};
