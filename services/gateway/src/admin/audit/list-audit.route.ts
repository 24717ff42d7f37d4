import { ListAuditQuery } from '@pixmesh/contracts/admin/admin-queries';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { type AuditEntry, auditEntryExists, listAuditEntries } from './audit-log.sql.ts';

/** `GET /admin/audit`. */
export function registerListAudit(app: FastifyInstance, { db }: { db: Database }): void {
  app.get('/admin/audit', async (request) => {
    const page = readListQuery(ListAuditQuery, request.query);
    return await answerList({
      page,
      fetch: (limit) => listAuditEntries(db, { ...page, limit }),
      cursorExists: (id) => auditEntryExists(db, id),
      toResource,
    });
  });
}

function toResource(entry: AuditEntry): object {
  return {
    id: entry.id,
    object: 'audit_entry',
    actor: entry.actor,
    action: entry.action,
    target_kind: entry.targetKind,
    target_id: entry.targetId,
    digest_before: entry.digestBefore?.toString('hex') ?? null,
    digest_after: entry.digestAfter?.toString('hex') ?? null,
    client_address: entry.clientAddress,
    created_at: entry.createdAt.toISOString(),
  };
}
