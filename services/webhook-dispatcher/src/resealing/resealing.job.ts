import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

import { countOldSecrets, type OldSecrets } from './count-old-secrets.ts';
import { type ResealDeps, resealBatch } from './reseal-secrets.ts';
import { countOtherVersions, SEALED_TABLES, type SealedTable } from './sealed-secrets.sql.ts';
import { readSealingRing } from './sealing-ring.ts';

/** Between two looks for something to do. */
const IDLE_MS = 60_000;
/** Between two batches: sends go first. */
const BATCH_PAUSE_MS = 50;
/** So many secrets that cannot be opened are no accident; the work on that table rests until a restart. */
const UNREADABLE_MAX = 1_000;

const resealed = counter('webhook_resealed_secrets_total', 'Secrets re-wrapped to the newest key');

export type ResealingOptions = {
  db: Database;
  logger: Logger;
  privateKeys: string;
  /** Before the first look: until then every sender should have been started with the newest key. */
  startDelayMs: number;
  idleMs?: number;
};

export type Resealing = AsyncDisposable & {
  /** Secrets that are not sealed to the newest key, as of the last look. */
  oldSecrets(): OldSecrets[];
};

/**
 * Rotation of the sealing keys: re-wraps what is sealed to an older version than the newest key that this process
 * holds, for as long as there is anything, and looks again from time to time, because whoever still seals to the old
 * key adds to it. One process at a time does the work; what it has done is done, so another may go on at any point.
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
  const stopping = new AbortController();
  let old: OldSecrets[] = [];
  observe(() => old);
  const running = run();
  return {
    oldSecrets: () => old,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
    },
  };

  async function run(): Promise<void> {
    await pause(options.startDelayMs);
    while (!stopping.signal.aborted) {
      try {
        for (const table of SEALED_TABLES) await resealTable(table);
        report(await countOldSecrets(db, ring));
      } catch (error) {
        logger.warn({ err: error }, 'secrets could not be re-sealed; tried again later');
      }
      await pause(options.idleMs ?? IDLE_MS);
    }
  }

  async function resealTable(table: SealedTable): Promise<void> {
    const found = await countOtherVersions(db, table, ring.newestVersion);
    for (const version of ring.olderVersions) {
      if (!found.has(version)) continue;
      await resealVersion(table, version);
    }
  }

  async function resealVersion(table: SealedTable, version: string): Promise<void> {
    const unreadable = deps.unreadable[table];
    while (!stopping.signal.aborted && unreadable.size < UNREADABLE_MAX) {
      const unreadableBefore = unreadable.size;
      const count = await resealBatch(deps, table, version);
      if (count === 0 && unreadable.size === unreadableBefore) return;
      resealed.add(count, { table });
      await pause(BATCH_PAUSE_MS);
    }
  }

  /** Says it once when it changes: an operator waits for the zeros before dropping a key. */
  function report(counts: OldSecrets[]): void {
    const said = JSON.stringify(old) === JSON.stringify(counts);
    old = counts;
    if (!said && counts.length > 0) {
      logger.info(
        { newest: ring.newestVersion, old: counts },
        'secrets that are not sealed to the newest key',
      );
    }
  }

  async function pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
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
