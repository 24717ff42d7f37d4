import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Drill } from '../drill.ts';
import { prepareBackup } from '../mesh/backup-settings.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';

let folder = '';
const archive = (): string => path.join(folder, 'backups', 'wal');

/** Postgres keeps what it cannot archive, and its disk fills. */
export const archiveFailing: Drill = {
  name: 'archive-failing',
  purpose: 'nothing can be written where the WAL is archived',
  alerts: ['WalArchiveFailing'],
  prepare: async () => {
    const backup = await prepareBackup();
    ({ folder } = backup);
    return backup.env;
  },
  cause: async (mesh) => {
    renameSync(archive(), `${archive()}.gone`);
    writeFileSync(archive(), 'not a folder');
    await mesh.query('select pg_switch_wal()');
  },
  effect: async (mesh) => {
    if (!(await isFailing(mesh))) throw new Error('no segment has failed');
  },
  end: async () => {
    rmSync(archive());
    renameSync(`${archive()}.gone`, archive());
  },
  recovered: async (mesh) => {
    if (await isFailing(mesh)) throw new Error('the segment is not archived');
  },
  cleanUp: async () => rmSync(folder, { recursive: true, force: true }),
};

async function isFailing(mesh: DrillMesh): Promise<boolean> {
  return (await mesh.metric('ledger', 'postgres_wal_archive_failing')) > 0;
}
