import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '@pixmesh/postgres/pool';
import { startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

import { countOldSecrets, type OldSecrets } from './count-old-secrets.ts';
import { type ResealDeps, resealBatch } from './reseal-secrets.ts';
import { countOtherVersions, SEALED_TABLES, type SealedTable } from './sealed-secrets.sql.ts';
import { readSealingRing } from './sealing-ring.ts';

/** Between two searches for something to do. */
const IDLE_MS = 60_000;
/** Between two batches: sends go first. */
const BATCH_PAUSE_MS = 50;
/** So many secrets that cannot be opened are no accident; the work on that table rests until a restart. */
const UNREADABLE_MAX = 1_000;

const resealed = counter(
  'webhook_resealed_secrets_total',
  'Secrets re-wrapped to the newest key',
  [],
);

export type ResealingOptions = {
  db: Database;
  logger: Logger;
  privateKeys: string;
  /** Before the first search: until then every sender should have been started with the newest key. */
  startDelayMs: number;
  idleMs?: number;
};

export type Resealing = AsyncDisposable & {
  /** Secrets that are not sealed to the newest key, as of the last turn. */
  oldSecrets(): OldSecrets[];
};

/**
 * Rotation of the sealing keys: re-wraps what is sealed to an older version than the newest key that this process
 * holds, and searches again from time to time, because a process that still seals to the old key adds to it. One
 * process at a time does the work, in commits, so another may go on at any point.
 */
export function startResealing(options: ResealingOptions): Resealing {
  const { db, logger } = options;
  const ring = readSealingRing(options.privateKeys);
  const deps: ResealDeps = {
    db,
    logger,
    ring,
    unreadable: { endpoints: new Set(), destinations: new Set() },
  };
  const idleMs = options.idleMs ?? IDLE_MS;
  let old: OldSecrets[] = [];
  observe(() => old);
  const loop = startPollingLoop({
    name: 'resealing',
    logger,
    firstPauseMs: options.startDelayMs,
    retry: { firstMs: idleMs, maxMs: idleMs },
    turn: async ({ stopping }) => {
      for (const table of SEALED_TABLES) await resealTable(table, stopping);
      report(await countOldSecrets(db, ring));
      return { pauseMs: idleMs };
    },
  });
  // A turn lasts for as long as there is anything to re-seal, so it says nothing about liveness.
  return { oldSecrets: () => old, [Symbol.asyncDispose]: loop[Symbol.asyncDispose] };

  async function resealTable(table: SealedTable, stopping: AbortSignal): Promise<void> {
    const found = await countOtherVersions(db, table, ring.newestVersion);
    for (const version of ring.olderVersions) {
      if (!found.has(version)) continue;
      await resealVersion({ table, version, stopping });
    }
  }

  async function resealVersion(work: {
    table: SealedTable;
    version: string;
    stopping: AbortSignal;
  }): Promise<void> {
    const { table, version, stopping } = work;
    const unreadable = deps.unreadable[table];
    while (!stopping.aborted && unreadable.size < UNREADABLE_MAX) {
      const unreadableBefore = unreadable.size;
      const count = await resealBatch(deps, table, version);
      if (count === 0 && unreadable.size === unreadableBefore) return;
      resealed.add(count, { table });
      await delay(BATCH_PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  /** Logs a change once: an operator waits for the zeros before dropping a key. */
  function report(counts: OldSecrets[]): void {
    const isReported = JSON.stringify(old) === JSON.stringify(counts);
    old = counts;
    if (!isReported) {
      logger.info(
        { newest: ring.newestVersion, old: counts },
        'secrets not sealed to the newest key',
      );
    }
  }
}

function observe(read: () => OldSecrets[]): void {
  observedGauge(
    'webhook_old_sealed_secrets',
    'Secrets that are not sealed to the newest key, up to a bound',
    async () =>
      read().map(({ table, version, count }) => ({
        value: count,
        attributes: { table, version },
      })),
  );
}
