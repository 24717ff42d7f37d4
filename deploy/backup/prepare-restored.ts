import { json } from 'node:stream/consumers';

import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { republish } from '@pixmesh/kafka/tools/republish';
import { sql } from '@pixmesh/postgres/sql';
import { ConfigError, readConfig } from '@pixmesh/service/config';
import { z } from 'zod';

import { AuditExport } from './audited-states.ts';
import {
  AuditDescription,
  auditFolder,
  encryptedPath,
  listWhole,
  readDescription,
} from './backup-folder.ts';
import { addEntries, closeAgain, type ClosedIds, stopPayouts } from './close-again.sql.ts';
import { readEncrypted } from './encrypted-file.ts';
import { OVERLAP_MS } from './export-audit.ts';
import { newestStates } from './newest-states.ts';
import { RestoreConfig } from './restore-base.ts';

const PrepareRestoredConfig = z.object({
  ...RestoreConfig.shape,
  /** `pixmesh_owner`, or a superuser. */
  ADMIN_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'expected a postgres:// URL' }),
});

/** What may have been published before the moment and handled after it. */
const IN_FLIGHT_MS = 15 * 60_000;

export type Prepared = {
  closed: ClosedIds;
  /** What operators did after the moment: what was made then is gone, and has to be made again. */
  lostEntries: { action: string; target_id: string }[];
  isNewlyStopped: boolean;
  /** Events that are published once more, into topics of a new prefix. */
  republished: number;
};

/**
 * Between the restore of a database and the first start of a service on it (ADR 0042). In one commit: what operators
 * had closed is closed again, and payouts are stopped. Then what was on its way at that moment is queued once more. A
 * repeat adds nothing but repeated messages.
 * @throws ConfigError while the server still recovers, or where a service is connected
 */
export async function prepareRestored(
  { at }: { at: Date },
  env: NodeJS.ProcessEnv = process.env,
): Promise<Prepared> {
  const config = readConfig(PrepareRestoredConfig, env);
  await using db = createPool({
    url: config.ADMIN_DATABASE_URL,
    applicationName: 'prepare-restored',
    max: 1,
  });
  await expectReady(db);
  const exported = await readExportsSince(at, config);
  const reason = `restored to ${at.toISOString()}: resume when reconciliation shows no break`;
  const prepared = await db.transaction(async (tx) => {
    const closed = await closeAgain(tx, newestStates(exported));
    const lostEntries: Prepared['lostEntries'] = [];
    for (const one of exported) lostEntries.push(...(await addEntries(tx, one)));
    return { closed, lostEntries, isNewlyStopped: await stopPayouts(tx, { id: newId(), reason }) };
  });
  const from = new Date(at.getTime() - IN_FLIGHT_MS);
  return { ...prepared, republished: await republishAll(config.ADMIN_DATABASE_URL, from) };
}

async function expectReady(db: Database): Promise<void> {
  const [row] = await db.query<{ isRecovering: boolean; services: string[] }>(sql`
    select pg_is_in_recovery() as "isRecovering", array(
      select distinct usename::text from pg_stat_activity
      where datname = current_database() and usename like 'pixmesh\\_%' and pid <> pg_backend_pid() and usename <> current_user
    ) as services`);
  if (row?.isRecovering !== false) throw new ConfigError('expected a server that has recovered');
  if (row.services.length > 0) {
    throw new ConfigError(`expected no service to be connected: ${row.services.join(', ')}`);
  }
}

/** Oldest first. The restored database itself holds, and newer, whatever an export from before the moment says. */
async function readExportsSince(
  at: Date,
  { BACKUP_DIR: home, BACKUP_IDENTITY: identity }: z.output<typeof RestoreConfig>,
): Promise<AuditExport[]> {
  const folder = auditFolder(home);
  const exports: AuditExport[] = [];
  for (const name of listWhole(folder)) {
    const digests = readDescription(folder, name, AuditDescription);
    if (Date.parse(digests.exported_at) < at.getTime() - OVERLAP_MS) continue;
    const plain = await readEncrypted(encryptedPath(folder, name), { identity, digests });
    exports.push(AuditExport.parse(await json(plain)));
  }
  return exports;
}

async function republishAll(adminUrl: string, from: Date): Promise<number> {
  let count = 0;
  for (const topic of Object.values(TOPICS)) {
    const bySchema = await republish(adminUrl, { topic, from, key: null });
    count += Object.values(bySchema).reduce((sum, queued) => sum + queued, 0);
  }
  return count;
}
