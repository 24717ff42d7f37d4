import { type Dispatchers, DISPATCHERS_PATH } from '@pixmesh/contracts/internal/dispatchers';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { listAccountsSetAside } from '#intake/count-set-aside.sql.ts';

import { listProcesses, type StoredProcess } from './processes.sql.ts';
import type { ReadBacklog } from './read-backlog.ts';

export type DispatchersDeps = { db: Database; readBacklog: ReadBacklog };

/** Who delivers, and what waits to be delivered. */
export function registerDispatchers(
  app: FastifyInstance,
  { db, readBacklog }: DispatchersDeps,
): void {
  app.get(DISPATCHERS_PATH, async (): Promise<Dispatchers> => {
    const [processes, backlog, accounts] = await Promise.all([
      listProcesses(db),
      readBacklog(),
      listAccountsSetAside(db),
    ]);
    return {
      object: 'dispatchers',
      checked_at: new Date().toISOString(),
      processes: processes.map(toResource),
      backlog: {
        events_waiting: backlog.eventsWaiting,
        events_set_aside: backlog.setAside.count,
        oldest_set_aside_seconds: backlog.setAside.oldestSeconds,
        accounts_set_aside: accounts.map((one) => ({
          account_id: one.accountId,
          events: one.count,
          oldest_seconds: one.oldestSeconds,
        })),
        lanes_waiting: backlog.count,
        oldest_waiting_seconds: backlog.oldestWaitingSeconds,
        oldest_limited_seconds: backlog.oldestLimitedSeconds,
        oldest_served_seconds: backlog.oldestServedSeconds,
      },
    };
  });
}

function toResource(one: StoredProcess): Dispatchers['processes'][number] {
  return {
    id: one.id,
    host: one.host,
    pid: one.pid,
    roles: one.roles as Dispatchers['processes'][number]['roles'],
    started_at: one.startedAt.toISOString(),
    seen_at: one.seenAt.toISOString(),
    cpu: Math.round(one.cpuShare * 100) / 100,
    lanes: one.lanes,
    slots_used: one.slotsUsed,
    slots: one.slotsMax,
  };
}
