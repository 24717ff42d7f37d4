import { createProgress } from '@pixmesh/local-stack/progress';
import { startPostgres } from '@pixmesh/local-stack/infra/postgres-process';
import { createSupervisor } from '@pixmesh/local-stack/supervisor/supervisor';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/free-ports';

import { query } from '../mesh/drill-mesh.ts';

/** Recovery of hours of work. */
const RECOVERED_MS_MAX = 1_200_000;
const DATABASE = 'pixmesh';

/** Postgres of a home without anything else of the mesh, when it has recovered and may be written. */
export async function startLonePostgres(home: string): Promise<AsyncDisposable & { url: string }> {
  const log = createProgress();
  const supervisor = await createSupervisor({ home, log });
  const [port = 0] = await freePorts(1);
  try {
    const server = new URL(
      await startPostgres({ supervisor, log }, { home, port, environment: {} }),
    );
    server.pathname = `/${DATABASE}`;
    const url = server.href;
    await eventually(async () => {
      const [row] = await query<{ recovering: boolean }>(
        url,
        'select pg_is_in_recovery() as recovering',
      );
      if (row?.recovering !== false) throw new Error('it has not recovered yet');
    }, RECOVERED_MS_MAX);
    return { url, [Symbol.asyncDispose]: () => supervisor.stop() };
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}
