import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { closeFolder } from '@pixmesh/local-stack/infra/private-home';
import { generateIdentity, identityToRecipient } from 'age-encryption';

import type { Drill } from '../drill.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';

let folder = '';
const archive = (): string => path.join(folder, 'backups', 'wal');

/** Postgres keeps what it cannot archive, and its disk fills. */
export const archiveFailing: Drill = {
  name: 'archive-failing',
  purpose: 'nothing can be written where the WAL is archived',
  alerts: ['WalArchiveFailing'],
  prepare: async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-drill-backups-'));
    closeFolder(folder);
    const recipient = await identityToRecipient(await generateIdentity());
    return { BACKUP_DIR: path.join(folder, 'backups'), BACKUP_RECIPIENT: recipient };
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
