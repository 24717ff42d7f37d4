import os from 'node:os';

import type { Database } from '@pixmesh/postgres/pool';
import { startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { Sender } from '#sending/sender.ts';

import { type ProcessState, removeProcess, renewProcess } from './processes.sql.ts';
import { shareToLeave } from './shared-load.ts';

const INTERVAL_MS = 1_000;

type HeartbeatDeps = {
  db: Database;
  logger: Logger;
  /** Of this process. */
  id: string;
  roles: readonly string[];
  sender: Pick<Sender, 'state' | 'leave'> | null;
  /** CPU time of this process so far. */
  cpuTimeMs?: () => number;
};

export type Heartbeat = AsyncDisposable & { isAlive(): boolean };

/**
 * Says every second that this process lives and how much it has to do, and has its sender leave lanes to others that
 * have less. One that stops takes its row back.
 */
export function startHeartbeat(deps: HeartbeatDeps): Heartbeat {
  const { db, logger, sender, cpuTimeMs = ownCpuTimeMs } = deps;
  const state = { id: deps.id, host: os.hostname(), pid: process.pid, roles: deps.roles };
  const startedAt = new Date(Date.now() - process.uptime() * 1_000);
  let measured = { cpuMs: cpuTimeMs(), atMs: performance.now() };
  const loop = startPollingLoop({ name: 'heartbeat', logger, turn });
  return {
    isAlive: loop.isAlive,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      // Where the database is away the row vanishes by its age.
      await removeProcess(db, deps.id).catch(() => undefined);
    },
  };

  async function turn() {
    const cpuShare = measureCpu();
    const own: ProcessState = { ...state, startedAt, cpuShare, sender: sender?.state() ?? null };
    const others = await renewProcess(db, own);
    if (sender !== null && own.sender !== null) {
      const share = shareToLeave({ ...own.sender, cpuShare }, others);
      if (share > 0) sender.leave(share);
    }
    return { pauseMs: INTERVAL_MS };
  }

  /** Of one core, since it was measured before. */
  function measureCpu(): number {
    const now = { cpuMs: cpuTimeMs(), atMs: performance.now() };
    const spentMs = now.atMs - measured.atMs;
    const share = spentMs > 0 ? (now.cpuMs - measured.cpuMs) / spentMs : 0;
    measured = now;
    return Math.max(0, share);
  }
}

function ownCpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
