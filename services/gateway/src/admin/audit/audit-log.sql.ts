import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

export type AuditEntry = {
  id: string;
  actor: string;
  action: string;
  targetKind: string;
  targetId: string;
  digestBefore: Buffer | null;
  digestAfter: Buffer | null;
  createdAt: Date;
};

/** The role may insert and read; it can neither change nor remove an entry. */
export async function insertAuditEntry(
  tx: Transaction,
  entry: Omit<AuditEntry, 'createdAt'>,
): Promise<void> {
  await tx.query(
    named(
      'audit_insert',
      sql`
        insert into audit_log
          (id, actor, action, target_kind, target_id, digest_before, digest_after)
        values (
          ${entry.id}, ${entry.actor}, ${entry.action}, ${entry.targetKind}, ${entry.targetId},
          ${entry.digestBefore}, ${entry.digestAfter}
        )`,
    ),
  );
}

/** Newest first by id, which begins with the time. */
export async function listAuditEntries(
  db: Queryable,
  page: {
    limit: number;
    startingAfter: string | null;
    actor: string | null;
    action: string | null;
    targetId: string | null;
  },
): Promise<AuditEntry[]> {
  const rows = await db.query<AuditRow>(
    named(
      'audit_list',
      sql`
        select id, actor, action, target_kind, target_id, digest_before, digest_after, created_at
        from audit_log
        where (${page.startingAfter}::uuid is null or id < ${page.startingAfter}::uuid)
          and (${page.actor}::text is null or actor = ${page.actor})
          and (${page.action}::text is null or action = ${page.action})
          and (${page.targetId}::text is null or target_id = ${page.targetId})
        order by id desc
        limit ${page.limit}`,
    ),
  );
  return rows.map((row) => ({
    id: row.id,
    actor: row.actor,
    action: row.action,
    targetKind: row.target_kind,
    targetId: row.target_id,
    digestBefore: row.digest_before,
    digestAfter: row.digest_after,
    createdAt: row.created_at,
  }));
}

export async function auditEntryExists(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(named('audit_exists', sql`select from audit_log where id = ${id}`));
  return rows.length === 1;
}

type AuditRow = {
  id: string;
  actor: string;
  action: string;
  target_kind: string;
  target_id: string;
  digest_before: Buffer | null;
  digest_after: Buffer | null;
  created_at: Date;
};
