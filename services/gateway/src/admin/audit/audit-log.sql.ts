import type { ListAuditQuery } from '@pixmesh/contracts/admin/admin-queries';
import type { PageFor } from '@pixmesh/http/list-page';
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
  /** Where the operator's request came from; null before it was recorded. */
  clientAddress: string | null;
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
          (id, actor, action, target_kind, target_id, digest_before, digest_after, client_address)
        values (
          ${entry.id}, ${entry.actor}, ${entry.action}, ${entry.targetKind}, ${entry.targetId},
          ${entry.digestBefore}, ${entry.digestAfter}, ${entry.clientAddress}
        )`,
    ),
  );
}

/** Newest first by id, which begins with the time. */
export async function listAuditEntries(
  db: Queryable,
  { limit, startingAfter, filters }: PageFor<typeof ListAuditQuery>,
): Promise<AuditEntry[]> {
  return await db.query<AuditEntry>(
    named(
      'audit_list',
      sql`
        select id, actor, action, target_kind as "targetKind", target_id as "targetId",
          digest_before as "digestBefore", digest_after as "digestAfter",
          client_address as "clientAddress", created_at as "createdAt"
        from audit_log
        where (
          ${startingAfter}::uuid is null
          or id < ${startingAfter}::uuid and exists (select from audit_log where id = ${startingAfter}::uuid)
        )
          and (${filters.actor}::text is null or actor = ${filters.actor})
          and (${filters.action}::text is null or action = ${filters.action})
          and (${filters.target_id}::text is null or target_id = ${filters.target_id})
        order by id desc
        limit ${limit}`,
    ),
  );
}

export async function auditEntryExists(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(named('audit_exists', sql`select from audit_log where id = ${id}`));
  return rows.length === 1;
}
