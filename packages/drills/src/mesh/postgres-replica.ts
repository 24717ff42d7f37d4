import { spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { startPostgres } from '@pixmesh/local-stack/infra/postgres-process';
import { createProgress } from '@pixmesh/local-stack/progress';
import { createSupervisor } from '@pixmesh/local-stack/supervisor/supervisor';
import { freePorts } from '@pixmesh/testkit/free-ports';
import pg from 'pg';

import { type DrillMesh, query } from './drill-mesh.ts';

const PROMOTED_SECONDS_MAX = 60;
const OWNER_ONLY = 0o600;
/** Files of a server that works come and go; what it needs of them is in its log. */
const GONE = /No such file or directory$/;

export type Replica = AsyncDisposable & {
  /** Resolves when it is a primary of its own. */
  promote(): Promise<void>;
};

/** Copies the data folder of the mesh's Postgres, and starts a replica on it that follows by streaming. */
export async function startReplica(
  mesh: DrillMesh,
  folders: { cluster: string; place: string },
): Promise<Replica> {
  await copyCluster(mesh, folders);
  const supervisorHome = `${mesh.home}-replica`;
  mkdirSync(supervisorHome, { recursive: true });
  const log = createProgress();
  const supervisor = await createSupervisor({ home: supervisorHome, log });
  const [port = 0] = await freePorts(1);
  const replica = { home: mesh.home, port, replica: folders.place, environment: {} };
  const url = await startPostgres({ supervisor, log }, replica);
  return {
    promote: async () => {
      await query(url, 'select pg_promote(true, $1)', [PROMOTED_SECONDS_MAX]);
    },
    [Symbol.asyncDispose]: async () => {
      await supervisor.stop();
      rmSync(supervisorHome, { recursive: true, force: true });
    },
  };
}

/** Between the start and the stop of a backup, which belong to one session. */
async function copyCluster(
  mesh: DrillMesh,
  { cluster, place }: { cluster: string; place: string },
): Promise<void> {
  const { postgres_url: url } = mesh.stack();
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  try {
    await session.query("select pg_backup_start('replica', true)");
    const { stderr } = spawnSync('cp', ['-a', cluster, place], { encoding: 'utf8' });
    const failed = stderr.split('\n').filter((line) => line !== '' && !GONE.test(line));
    if (failed.length > 0) throw new Error(failed.join('\n'));
    const { rows } = await session.query<{ label: string }>(
      'select labelfile as label from pg_backup_stop(false)',
    );
    rmSync(path.join(place, 'postmaster.pid'), { force: true });
    writeAs(place, 'backup_label', rows[0]?.label ?? '');
    writeAs(place, 'standby.signal', '');
    appendFileSync(path.join(place, 'postgresql.auto.conf'), `primary_conninfo = '${url}'\n`);
  } finally {
    await session.end();
  }
}

/** Belongs to the account that Postgres runs under. */
function writeAs(place: string, name: string, text: string): void {
  const { uid, gid } = statSync(place);
  const file = path.join(place, name);
  writeFileSync(file, text, { mode: OWNER_ONLY });
  chownSync(file, uid, gid);
}
