import type { Recovery } from '@pixmesh/contracts/internal/operator-deliveries';

/** What a recovery sends again. */
export type RecoveryOrder = {
  accountId: string;
  applicationId: string | null;
  endpointId: string | null;
  event: string | null;
  statuses: readonly string[];
  createdFrom: Date;
  createdUntil: Date;
  ratePerSecond: number;
};

export type RecoveryRow = RecoveryOrder & {
  id: string;
  status: Recovery['status'];
  /** The last delivery that was read, oldest first. */
  position: string | null;
  queuedCount: number;
  succeededCount: number;
  failedCount: number;
  fingerprint: Buffer;
  createdAt: Date;
  endedAt: Date | null;
};

export function toRecoveryResource(row: RecoveryRow): Recovery {
  return {
    id: row.id,
    object: 'recovery',
    account_id: row.accountId,
    application_id: row.applicationId,
    endpoint_id: row.endpointId,
    event: row.event,
    statuses: [...row.statuses],
    created_from: row.createdFrom.toISOString(),
    created_until: row.createdUntil.toISOString(),
    rate_per_second: row.ratePerSecond,
    status: row.status,
    queued: row.queuedCount,
    succeeded: row.succeededCount,
    failed: row.failedCount,
    created_at: row.createdAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
