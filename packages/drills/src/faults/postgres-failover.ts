import { realpathSync, renameSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';

import type { Drill } from '../drill.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';
import { startReplica } from '../mesh/postgres-replica.ts';
import { outboxDrained } from './outbox-age.ts';

const IN_STEP_MS_MAX = 120_000;
const FIRST_TIMELINE = '00000001';

/**
 * Commits wait for the replica, so that nothing acknowledged is lost with the primary. The replica takes the address of the
 * primary, as an operator's service for the primary does.
 */
export const postgresFailover: Drill = {
  name: 'postgres-failover',
  purpose: 'Postgres and its disk are lost, and a replica takes its place',
  alerts: [],
  cause: async (mesh) => {
    const folder = realpathSync(path.join(mesh.home, 'data/postgres'));
    const places = ['cluster', 'replica', 'lost'].map((name) => path.join(folder, name));
    const [cluster = '', place = '', lost = ''] = places;
    await using replica = await startReplica(mesh, { cluster, place });
    await waitForEachCommit(mesh);
    renameSync(cluster, lost);
    mesh.signal('postgres', 'SIGKILL');
    await replica.promote();
    await replica[Symbol.asyncDispose]();
    renameSync(place, cluster);
  },
  effect: async (mesh) => {
    const [row] = await mesh.query<{ file: string }>(
      'select pg_walfile_name(pg_current_wal_lsn()) as file',
    );
    if (row?.file.startsWith(FIRST_TIMELINE)) throw new Error('no replica has been promoted');
  },
  end: async () => undefined,
  recovered: async (mesh) => {
    await mesh.query('select 1');
    await outboxDrained(mesh);
  },
};

async function waitForEachCommit(mesh: DrillMesh): Promise<void> {
  await mesh.query("alter system set synchronous_standby_names = '*'");
  await mesh.query('select pg_reload_conf()');
  await eventually(async () => {
    const [row] = await mesh.query<{ state: string }>(
      'select sync_state as state from pg_stat_replication',
    );
    if (row?.state !== 'sync') throw new Error('no replica is in step');
  }, IN_STEP_MS_MAX);
}
