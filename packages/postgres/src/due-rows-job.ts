import { setTimeout as delay } from 'node:timers/promises';

import type { Logger } from '@pixmesh/telemetry/logger';
import { type TraceParent, withSpan } from '@pixmesh/telemetry/tracing';

const POLL_INTERVAL_MS = 100;
/** Without a turn for this long the loop hangs and the process is better restarted. */
const SILENCE_MS_MAX = 60_000;

/** One way in which rows come due. */
export type Intake<Row> = {
  /** Leases up to `limit` rows to this process, the most urgent first. */
  take(limit: number): Promise<Row[]>;
  /** Rows in one turn. */
  max: number;
  /** The pause between two turns of this intake; none where it is absent. */
  intervalMs?: number;
};

export type DueRowsJobOptions<Row> = {
  /** Names the span of one row's work. */
  name: string;
  logger: Logger;
  /** Rows that this process works on at the same time. */
  inFlightMax: number;
  /** Asked in this order in every turn: what comes first gets the free places first. */
  intakes: readonly Intake<Row>[];
  /** The work on one row; it gives the lease back. What it throws is logged, and its lease ends by itself. */
  handle(row: Row): Promise<void>;
  /** Fields of a log line about a row: ids only. */
  describe(row: Row): Record<string, string>;
  /** The trace that asked for the work. */
  parentOf(row: Row): TraceParent;
};

export type DueRowsJob = {
  /** Says that something has come due. */
  wake(): void;
  isAlive(): boolean;
  /** Takes no more rows and waits for those in work. */
  stop(): Promise<void>;
};

/**
 * Takes due rows and works on them, for as long as the process lives: a bounded number at once, each in a span
 * of its own. Replicas share the rows by their leases. A poll finds what no wake-up announced.
 */
export function startDueRowsJob<Row>(options: DueRowsJobOptions<Row>): DueRowsJob {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const lastTakenMs = options.intakes.map(() => Number.NEGATIVE_INFINITY);
  let wake = Promise.withResolvers<void>();
  let lastTurnMs = performance.now();
  const running = loop();
  return {
    wake: () => wake.resolve(),
    isAlive: () => performance.now() - lastTurnMs < SILENCE_MS_MAX,
    stop: async () => {
      stopping.abort();
      wake.resolve();
      await running;
      await Promise.all(inFlight);
    },
  };

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      lastTurnMs = performance.now();
      const taken = await takeDue().catch((error: unknown) => {
        options.logger.warn({ err: error, job: options.name }, 'a job waits for the database');
        return 0;
      });
      if (taken === 0) await pause();
    }
  }

  /** Rows taken by the intakes that know no pause: while they give, the next turn follows at once. */
  async function takeDue(): Promise<number> {
    let taken = 0;
    for (const [index, intake] of options.intakes.entries()) {
      const sinceMs = performance.now() - (lastTakenMs[index] ?? 0);
      if (sinceMs < (intake.intervalMs ?? 0)) continue;
      lastTakenMs[index] = performance.now();
      const count = await takeFrom(intake);
      if (intake.intervalMs === undefined) taken += count;
    }
    return taken;
  }

  async function takeFrom(intake: Intake<Row>): Promise<number> {
    const limit = Math.min(intake.max, options.inFlightMax - inFlight.size);
    if (limit <= 0 || stopping.signal.aborted) return 0;
    const rows = await intake.take(limit);
    for (const row of rows) follow(work(row));
    return rows.length;
  }

  function follow(work: Promise<void>): void {
    inFlight.add(work);
    void work.finally(() => {
      inFlight.delete(work);
      wake.resolve();
    });
  }

  async function work(row: Row): Promise<void> {
    try {
      await withSpan(options.name, { parent: options.parentOf(row) }, () => options.handle(row));
    } catch (error) {
      options.logger.warn(
        { err: error, job: options.name, ...options.describe(row) },
        'work on a due row failed',
      );
    }
  }

  async function pause(): Promise<void> {
    const timer = new AbortController();
    const timeout = delay(POLL_INTERVAL_MS, undefined, { signal: timer.signal });
    await Promise.race([timeout.catch(() => undefined), wake.promise]);
    timer.abort();
    wake = Promise.withResolvers();
  }
}
