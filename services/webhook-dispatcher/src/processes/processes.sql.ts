import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { SenderState } from '#sending/sender.ts';

/** What is not renewed for so long is the row of a process that has ended. */
const GONE_AFTER_MS = 30_000;
/** Loads of others that are older than this say nothing. */
const LOAD_KEPT_MS = 5_000;

/** A process, and how much it has to do. */
export type ProcessState = {
  id: string;
  host: string;
  pid: number;
  roles: readonly string[];
  startedAt: Date;
  /** Of one core. */
  cpuShare: number;
  /** Null without the role `sender`. */
  sender: SenderState | null;
};

/** How much another sender has to do. */
export type SenderLoad = SenderState & { cpuShare: number };

/**
 * Renews the row of a process and removes those of processes that have ended; answers how much other senders have to
 * do.
 */
export async function renewProcess(db: Queryable, state: ProcessState): Promise<SenderLoad[]> {
  const { sender } = state;
  return await db.query<SenderLoad>(
    named(
      'processes_renew',
      sql`
        with renewed as (
          insert into processes
            (id, host, pid, roles, started_at, seen_at, cpu_share, lanes, slots_used, slots_max)
          values (
            ${state.id}, ${state.host}, ${state.pid}, ${state.roles}, ${state.startedAt}, now(), ${state.cpuShare}::real,
            ${sender?.lanes ?? null}::int, ${sender?.slotsUsed ?? null}::int, ${sender?.slotsMax ?? null}::int
          )
          on conflict (id) do update
          set seen_at = excluded.seen_at,
              cpu_share = excluded.cpu_share,
              lanes = excluded.lanes,
              slots_used = excluded.slots_used
        ),
        gone as (
          delete from processes
          where id = any (array(
              select id
              from processes
              where seen_at < now() - ${GONE_AFTER_MS}::float8 * interval '1 millisecond'
              for update skip locked
            ))
        )
        select lanes, slots_used as "slotsUsed", slots_max as "slotsMax", cpu_share::float8 as "cpuShare"
        from processes
        where id <> ${state.id}
          and slots_max is not null
          and seen_at > now() - ${LOAD_KEPT_MS}::float8 * interval '1 millisecond'`,
    ),
  );
}

/** Of a process that ends in order. */
export async function removeProcess(db: Queryable, id: string): Promise<void> {
  await db.query(named('processes_remove', sql`delete from processes where id = ${id}`));
}

export type StoredProcess = Omit<ProcessState, 'sender'> & {
  seenAt: Date;
  lanes: number | null;
  slotsUsed: number | null;
  slotsMax: number | null;
};

/** Those that live, the oldest first. */
export async function listProcesses(db: Queryable): Promise<StoredProcess[]> {
  return await db.query<StoredProcess>(
    named(
      'processes_list',
      sql`
        select
          id, host, pid, roles, started_at as "startedAt", seen_at as "seenAt", cpu_share::float8 as "cpuShare", lanes,
          slots_used as "slotsUsed", slots_max as "slotsMax"
        from processes
        where seen_at >= now() - ${GONE_AFTER_MS}::float8 * interval '1 millisecond'
        order by started_at, id`,
    ),
  );
}
