import { realpathSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';

import { type BackupSettings, prepareBackup } from '../mesh/backup-settings.ts';
import { clearHome, type DrillMesh, runBackup, startMesh, stopMesh } from '../mesh/drill-mesh.ts';
import { createReport, type Report } from '../report.ts';
import { putRecordsIn, takeRecordsOut } from './acquirer-records.ts';
import { startLonePostgres } from './lone-postgres.ts';
import { buildUp, type Kept, liveOn, type Lost } from './lost-period.ts';
import { settleDifferences } from './settle-differences.ts';
import { verifyClosed, verifyMoney } from './verify-restored.ts';

const ARCHIVED_MS_MAX = 120_000;
/** Topics and groups of the installation from the restore on (ADR 0042). */
const PREFIX = 'restored-';
/** Those of one machine check every unpaid charge every few seconds, of which there may be many here. */
const PERIODS = { PIXMESH_PERIODS: 'production' };

export type RestoreOptions = {
  home: string;
  charges: number;
  /** Every so many of them is paid. */
  paidEvery: number;
  /** How long the mesh lives on after the moment that is restored. */
  agoMs: number;
  /** The broker's data is lost too; otherwise it is ahead of the database. */
  isBrokerLost: boolean;
};

/**
 * Loses a database: builds an installation up, backs it up, lets it live on, restores the moment before, and brings it to
 * where it agrees with the acquirer. Answers whether everything was as it has to be.
 */
export async function runRestoreDrill(options: RestoreOptions): Promise<boolean> {
  const { home } = options;
  const report = createReport('restore');
  await clearHome(home);
  const backup = await prepareBackup();
  const settings = { ...backup.env, ...PERIODS };
  const mesh = await report.step('start', () => startMesh(home, { settings }));
  try {
    const kept = await report.step(`${options.charges} charges`, () => buildUp(mesh, options));
    await report.step('base backup', async () =>
      runBackup(['base'], { ...backup.env, BACKUP_DATABASE_URL: mesh.stack().postgres_url }),
    );
    const at = await readClock(mesh);
    const lost = await report.step('what is lost', () => liveOn(mesh, kept, options.agoMs));
    await report.step('audit log exported, WAL archived', () => archiveAll(mesh, backup));
    await stopMesh(home);
    await loseDatabase(options);
    report.startClock();
    await recover(report, { options, at, backup });
    const restored = await report.step('start on the restored database', () =>
      startMesh(home, { settings: { ...settings, KAFKA_TOPIC_PREFIX: PREFIX } }),
    );
    await verify(report, restored, { kept, lost });
  } finally {
    await stopMesh(home);
    rmSync(backup.folder, { recursive: true, force: true });
  }
  return report.end();
}

async function readClock(mesh: DrillMesh): Promise<Date> {
  const [row] = await mesh.query<{ now: Date }>('select clock_timestamp() as now');
  return row?.now ?? new Date();
}

async function archiveAll(mesh: DrillMesh, backup: BackupSettings): Promise<void> {
  runBackup(['audit'], { ...backup.env, BACKUP_DATABASE_URL: mesh.stack().postgres_url });
  const [row] = await mesh.query<{ name: string }>(
    'select pg_walfile_name(pg_switch_wal()) as name',
  );
  await eventually(async () => {
    const [archived] = await mesh.query<{ last: string | null }>(
      'select last_archived_wal as last from pg_stat_archiver',
    );
    if ((archived?.last ?? '') < (row?.name ?? '')) throw new Error('not archived yet');
  }, ARCHIVED_MS_MAX);
}

/** Keeps of the old database what belongs to the acquirer, and nothing else. */
async function loseDatabase({ home, isBrokerLost }: RestoreOptions): Promise<void> {
  const folder = realpathSync(path.join(home, 'data/postgres'));
  await using old = await startLonePostgres(home);
  await takeRecordsOut(old.url, folder);
  await old[Symbol.asyncDispose]();
  renameSync(path.join(folder, 'cluster'), path.join(folder, 'cluster.lost'));
  if (isBrokerLost) rmSync(path.join(home, 'data/kafka'), { recursive: true, force: true });
}

async function recover(
  report: Report,
  { options: { home }, at, backup }: { options: RestoreOptions; at: Date; backup: BackupSettings },
): Promise<void> {
  const folder = realpathSync(path.join(home, 'data/postgres'));
  const env = { ...backup.env, BACKUP_IDENTITY: backup.identity };
  const to = path.join(folder, 'cluster');
  const arguments_ = ['--at', at.toISOString()];
  await report.step('backup verified', async () => runBackup(['check'], env));
  await report.step('base and WAL laid out', async () =>
    runBackup(['restore', '--to', to, ...arguments_], env),
  );
  await using postgres = await report.step('WAL replayed, promoted', () => startLonePostgres(home));
  await putRecordsIn(postgres.url, folder);
  const prepared = await report.step('closed again, payouts stopped, republished', async () =>
    runBackup(['prepare', ...arguments_], { ...env, ADMIN_DATABASE_URL: postgres.url }),
  );
  report.note(JSON.stringify(prepared));
  rmSync(`${to}.wal`, { recursive: true, force: true });
}

async function verify(
  report: Report,
  mesh: DrillMesh,
  happened: { kept: Kept; lost: Lost },
): Promise<void> {
  await report.step('no revoked key lives, no removed operator acts', () =>
    verifyClosed(mesh, happened),
  );
  const listed = await report.step('reconciliation with the acquirer', () =>
    settleDifferences(report, mesh, happened),
  );
  report.stopClock();
  report.check('reconciliation is green', listed.length === 0, listed.join(', '));
  for (const problem of await verifyMoney(mesh, happened)) report.check(problem, false);
}
