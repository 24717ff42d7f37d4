import { mkdirSync } from 'node:fs';
import { Readable } from 'node:stream';

import { createPool, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { ConfigError, readConfig } from '@pixmesh/service/config';

import { AuditExport } from './audited-states.ts';
import {
  AuditDescription,
  auditFolder,
  descriptionPath,
  encryptedPath,
  listWhole,
  readDescription,
} from './backup-folder.ts';
import { writeDurably, writeEncrypted } from './encrypted-file.ts';
import { BackupConfig } from './take-base-backup.ts';

/** A transaction ends within this of its beginning, which `created_at` is; so much is read again each time. */
export const OVERLAP_MS = 60_000;
const UNFIT_FOR_NAMES = /[-:.]/g;

/**
 * Stores what operators have done since the last export, and how what they may close stands now: keys, operators,
 * accounts and their stops, applications. A restore to an earlier moment closes it again. To be run each minute: what
 * was closed after the last export is what a restore may open. Answers how many entries; none writes nothing.
 * @throws ConfigError where the database was restored and is not prepared: its states are not the newest; or where the last
 * export is dated ahead
 */
export async function exportAudit(env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const config = readConfig(BackupConfig, env);
  const folder = auditFolder(config.BACKUP_DIR);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const last = listWhole(folder).at(-1);
  const before = last === undefined ? null : readDescription(folder, last, AuditDescription);
  await using db = createPool({
    url: config.BACKUP_DATABASE_URL,
    applicationName: 'export-audit',
    max: 1,
  });
  await expectEntry(db, before?.newest_entry);
  if (before !== null) await expectPast(db, before.exported_at);
  const since = new Date(before === null ? 0 : Date.parse(before.exported_at) - OVERLAP_MS);
  const exported = await db.snapshot((tx) => readExport(tx, since));
  if (exported.entries.length === 0) return 0;
  const [{ now } = { now: new Date() }] = await db.query<{ now: Date }>(sql`select now()`);
  const name = now.toISOString().replaceAll(UNFIT_FOR_NAMES, '');
  const digests = await writeEncrypted(
    encryptedPath(folder, name),
    Readable.from([JSON.stringify(exported)]),
    { recipient: config.BACKUP_RECIPIENT, isReplaced: true },
  );
  const description = {
    ...digests,
    exported_at: now.toISOString(),
    newest_entry: exported.entries.at(-1)?.id,
  };
  await writeDurably(descriptionPath(folder, name), `${JSON.stringify(description)}\n`);
  return exported.entries.length;
}

/** A database that lacks an entry that was exported from it is as it was at an earlier moment; `prepare` adds it. */
async function expectEntry(db: Queryable, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const rows = await db.query(sql`select from gateway.audit_log where id = ${id}`);
  if (rows.length === 0) {
    throw new ConfigError(
      `expected the exported entry ${id}: a restored database is prepared first`,
    );
  }
}

/**
 * Entries that are older than an export are taken for exported: those made since the server's clock was set back would
 * never be.
 */
async function expectPast(db: Queryable, exportedAt: string): Promise<void> {
  const [row] = await db.query<{ isPast: boolean }>(
    sql`select ${new Date(exportedAt)} <= clock_timestamp() as "isPast"`,
  );
  if (row?.isPast === true) return;
  throw new ConfigError(
    `expected the clock of the server to be past its last export, ${exportedAt}`,
  );
}

/** States of what the entries name; at the first export, of everything that is closed. */
async function readExport(db: Queryable, since: Date): Promise<AuditExport> {
  const rows = await db.query<{ exported: unknown }>(sql`
    with entries as materialized (
      select id, actor, action, target_kind, target_id, encode(digest_before, 'hex') as digest_before,
        encode(digest_after, 'hex') as digest_after, client_address, created_at
      from gateway.audit_log
      where created_at >= ${since}
    ),
    named as materialized (select distinct target_id from entries)
    select json_build_object(
      'entries', (select coalesce(json_agg(entries order by id), '[]') from entries),
      'closed', json_build_object(
        'keys', (
          select coalesce(json_agg(json_build_object(
            'id', id, 'revoked_at', revoked_at, 'suspended', suspended, 'expires_at', expires_at
          )), '[]')
          from gateway.api_keys
          where (revoked_at is not null or suspended or expires_at is not null)
            and (${since.getTime() === 0} or id::text in (select target_id from named))
        ),
        'operators', (
          select coalesce(json_agg(json_build_object('id', id, 'removed_at', removed_at)), '[]')
          from gateway.operators
          where removed_at is not null
            and (${since.getTime() === 0} or id::text in (select target_id from named))
        ),
        'accounts', (
          select coalesce(json_agg(json_build_object(
            'id', id, 'status', status, 'onboarding_status', onboarding_status,
            'payouts_enabled', payouts_enabled, 'auto_payout_enabled', auto_payout_enabled
          )), '[]')
          from gateway.accounts
          where (
              status = 'inactive' or onboarding_status <> 'approved' or not payouts_enabled or not auto_payout_enabled
            )
            and (${since.getTime() === 0} or id::text in (select target_id from named))
        ),
        'stops', (
          select coalesce(json_agg(json_build_object(
            'id', account_id, 'stop_id', id, 'reason', reason, 'set_by', set_by, 'created_at', created_at
          )), '[]')
          from payouts.payout_stops
          where ended_at is null and account_id is not null
            and (${since.getTime() === 0} or account_id::text in (select target_id from named))
        ),
        'applications', (
          select coalesce(json_agg(json_build_object('id', id)), '[]')
          from gateway.applications
          where not active
            and (${since.getTime() === 0} or id::text in (select target_id from named))
        )
      )
    ) as exported`);
  return AuditExport.parse(rows[0]?.exported);
}
