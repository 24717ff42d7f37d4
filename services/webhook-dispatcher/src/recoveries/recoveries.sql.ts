import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

import type { RecoveryOrder, RecoveryRow } from './recovery-row.ts';

/** Columns of every statement that answers recoveries. */
export const RECOVERY_COLUMNS = sql`
          id, account_id as "accountId", application_id as "applicationId", endpoint_id as "endpointId", event, statuses,
          created_from as "createdFrom", created_until as "createdUntil", rate_per_second as "ratePerSecond", status,
          position, queued_count as "queuedCount", succeeded_count as "succeededCount", failed_count as "failedCount",
          fingerprint, created_at as "createdAt", ended_at as "endedAt"`;

export type NewRecovery = RecoveryOrder & { id: string; fingerprint: Buffer; operatorId: string };

/** Adds a recovery; null when its id is taken: the primary key is the lock. */
export async function insertRecovery(
  db: Queryable,
  clock: ScheduleClock,
  recovery: NewRecovery,
): Promise<RecoveryRow | null> {
  const rows = await db.query<RecoveryRow>(
    named(
      'recovery_insert',
      sql`
        insert into recoveries (
          id, account_id, application_id, endpoint_id, event, statuses, created_from, created_until, rate_per_second,
          requested_by, fingerprint, paced_at
        )
        values (
          ${recovery.id}, ${recovery.accountId}, ${recovery.applicationId}, ${recovery.endpointId}, ${recovery.event},
          ${recovery.statuses}, ${recovery.createdFrom}, ${recovery.createdUntil}, ${recovery.ratePerSecond},
          ${recovery.operatorId}, ${recovery.fingerprint}, ${scheduleNow(clock)}
        )
        on conflict (id) do nothing
        returning ${RECOVERY_COLUMNS}`,
    ),
  );
  return rows[0] ?? null;
}

export async function findRecovery(db: Queryable, id: string): Promise<RecoveryRow | null> {
  const rows = await db.query<RecoveryRow>(
    named('recovery_find', sql`select ${RECOVERY_COLUMNS} from recoveries where id = ${id}`),
  );
  return rows[0] ?? null;
}

/**
 * Those that are not over, and of them first those that may queue something, by turns. Those that wait for what they
 * have queued come behind, so that no other one waits for them. Reads `recoveries_running`, and of each the beginning
 * of its range of `queue_recovery`.
 */
export async function findOpenRecoveries(
  db: Queryable,
  { limit, waitingMax }: { limit: number; waitingMax: number },
): Promise<RecoveryRow[]> {
  return await db.query<RecoveryRow>(
    named(
      'recoveries_open',
      sql`
        select ${RECOVERY_COLUMNS}
        from recoveries
        where status in ('running', 'sending')
        order by
          status = 'sending' or exists (
            select from queue where recovery_id = recoveries.id offset ${waitingMax - 1}::int
          ),
          paced_at, id
        limit ${limit}`,
    ),
  );
}

/** Whether an endpoint belongs to the account, or has. */
export async function isEndpointOf(
  db: Queryable,
  accountId: string,
  endpointId: string,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'recovery_endpoint',
      sql`select id from endpoints where id = ${endpointId} and account_id = ${accountId}`,
    ),
  );
  return rows.length === 1;
}

/** Whether an application belongs to the account: by a stored announcement of the gateway, or by an endpoint. */
export async function isApplicationOf(
  db: Queryable,
  accountId: string,
  applicationId: string,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'recovery_application',
      sql`
        select true
        where exists (
            select from applications where application_id = ${applicationId} and account_id = ${accountId}
          )
          or exists (
            select from endpoints where application_id = ${applicationId} and account_id = ${accountId}
          )`,
    ),
  );
  return rows.length === 1;
}

/** Ends a recovery that is not over; false when it is. */
export async function markCanceled(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx.query(
    named(
      'recovery_cancel',
      sql`
        update recoveries
        set status = 'canceled',
            ended_at = now()
        where id = ${id}
          and status in ('running', 'sending')
        returning id`,
    ),
  );
  return rows.length === 1;
}

/**
 * Drops what a recovery has queued. Locked rows are skipped, because they are being recorded or dropped: no deadlock
 * can form with a statement that counts for this recovery. Their number has a bound.
 */
export async function dropQueued(tx: Transaction, recoveryId: string): Promise<void> {
  await tx.query(
    named(
      'recovery_drop_queued',
      sql`
        delete from queue
        where id = any (array(
            select id from queue where recovery_id = ${recoveryId} for update skip locked
          ))`,
    ),
  );
}

/** What a step of a recovery has done. */
export type Progress = {
  id: string;
  /** Its position before: a step that another process made meanwhile is not made twice. */
  from: string | null;
  position: string | null;
  queuedCount: number;
  /** Whether nothing is left to read. */
  isAllRead: boolean;
};

/**
 * Records a step, at the end of its transaction: a statement that counts outcomes of this recovery waits for a commit
 * at most. False when the recovery was canceled or moved on meanwhile; the step is then to be rolled back.
 */
export async function recordProgress(
  tx: Transaction,
  clock: ScheduleClock,
  { id, from, position, queuedCount, isAllRead }: Progress,
): Promise<boolean> {
  const now = scheduleNow(clock);
  const rows = await tx.query(
    named(
      'recovery_progress',
      sql`
        update recoveries
        set position = coalesce(${position}::uuid, position),
            queued_count = queued_count + ${queuedCount}::int,
            paced_at = greatest(${pacedAt(now)}, ${now} - ${burstOf}) + ${queuedCount}::int * ${intervalOf},
            status = case when ${isAllRead}::boolean then 'sending' else status end
        where id = ${id}
          and status = 'running'
          and position is not distinct from ${from}::uuid
        returning id`,
    ),
  );
  return rows.length === 1;
}

/** Recoveries are completed when they have read everything and nothing of them is left in the queue. */
export async function completeRecoveries(db: Queryable): Promise<void> {
  await db.query(
    named(
      'recoveries_complete',
      sql`
        update recoveries
        set status = 'completed',
            ended_at = now()
        where status = 'sending'
          and not exists (select from queue where recovery_id = recoveries.id)`,
    ),
  );
}

/** Between two deliveries. */
const intervalOf = sql`(interval '1 second' / rate_per_second)`;

/** What was not used up may be made up for so far back, and no further: after a standstill not all goes out at once. */
const burstOf = sql`(interval '200 milliseconds' + ${intervalOf})`;

/** No rate is used up seconds ahead: a clock that was ahead has been set back since, which is like a standstill. */
function pacedAt(now: Statement): Statement {
  return sql`(case when paced_at > ${now} + interval '1 second' then ${now} - ${burstOf} else paced_at end)`;
}

/**
 * How many deliveries a recovery may queue now: what its rate allows, and what brings those that wait to
 * `waitingMax`. Reads the beginning of its range of `queue_recovery`.
 */
export async function readAllowance(
  db: Queryable,
  clock: ScheduleClock,
  { id, waitingMax }: { id: string; waitingMax: number },
): Promise<number> {
  const now = scheduleNow(clock);
  const [row] = await db.query<{ allowance: number }>(
    named(
      'recovery_allowance',
      sql`
        select greatest(0, least(
            floor(extract(epoch from least(${now} - ${pacedAt(now)}, ${burstOf})) * rate_per_second + 0.001)::int,
            ${waitingMax}::int - (
              select count(*)::int
              from (select from queue where recovery_id = ${id} limit ${waitingMax}) as waiting
            )
          )) as allowance
        from recoveries
        where id = ${id}
          and status = 'running'`,
    ),
  );
  return row?.allowance ?? 0;
}

/** True for one process at a time, until the transaction ends. */
export async function takeRecoveriesLease(tx: Transaction): Promise<boolean> {
  const rows = await tx.query(
    named(
      'recoveries_lease',
      sql`select name from leases where name = 'recoveries' for update skip locked`,
    ),
  );
  return rows.length === 1;
}
