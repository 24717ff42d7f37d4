import { OWN_WORK, runForAccount } from '@pixmesh/fair-share/current-account';
import {
  type NextTurn,
  type PollingLoop,
  startPollingLoop,
  type TurnContext,
} from '@pixmesh/service/polling-loop';
import { createWakeSignal, type WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { continueFrom, type TraceParent, withSpan } from '@pixmesh/telemetry/tracing';

const POLL_INTERVAL_MS = 250;
/** The first pause after a failure, and the longest. */
const RETRY = { firstMs: POLL_INTERVAL_MS, maxMs: 2_000 };

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
  /** Names the job in the log, and the span of one row's work. */
  name: string;
  logger: Logger;
  /** Notified when something has come due; without it a poll finds what is due. */
  signal?: WakeSignal;
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
  /** In whose turns the work takes connections; null, or without it, in those of the installation itself. */
  accountOf?(row: Row): string | null;
};

/**
 * Takes due rows and works on them, for as long as the process lives: a bounded number at once, each in a span
 * of its own. Replicas share the rows by their leases. A poll finds what nobody notified. Disposing it
 * takes no more rows and waits for those in work.
 */
export function startDueRowsJob<Row>(options: DueRowsJobOptions<Row>): PollingLoop {
  const { name, logger, signal = createWakeSignal() } = options;
  const inFlight = new Set<Promise<void>>();
  const lastTakenMs = options.intakes.map(() => Number.NEGATIVE_INFINITY);
  const loop = startPollingLoop({ name, logger, signal, retry: RETRY, turn });
  return {
    isAlive: loop.isAlive,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await Promise.all(inFlight);
    },
  };

  async function turn({ stopping }: TurnContext): Promise<NextTurn> {
    const taken = await takeDue(stopping);
    return { pauseMs: taken > 0 ? 0 : POLL_INTERVAL_MS };
  }

  /** Rows taken by the intakes that know no pause: while they give, the next turn follows at once. */
  async function takeDue(stopping: AbortSignal): Promise<number> {
    let taken = 0;
    for (const [index, intake] of options.intakes.entries()) {
      const sinceMs = performance.now() - (lastTakenMs[index] ?? 0);
      if (stopping.aborted || sinceMs < (intake.intervalMs ?? 0)) continue;
      lastTakenMs[index] = performance.now();
      const count = await takeFrom(intake);
      if (intake.intervalMs === undefined) taken += count;
    }
    return taken;
  }

  async function takeFrom(intake: Intake<Row>): Promise<number> {
    const limit = Math.min(intake.max, options.inFlightMax - inFlight.size);
    if (limit <= 0) return 0;
    const rows = await intake.take(limit);
    for (const row of rows) follow(continueFrom(options.parentOf(row), () => work(row)));
    return rows.length;
  }

  function follow(work: Promise<void>): void {
    inFlight.add(work);
    void work.finally(() => {
      inFlight.delete(work);
      signal.notify();
    });
  }

  async function work(row: Row): Promise<void> {
    try {
      const accountId = options.accountOf?.(row) ?? OWN_WORK;
      await runForAccount(accountId, () => withSpan(name, {}, () => options.handle(row)));
    } catch (error) {
      logger.warn({ err: error, job: name, ...options.describe(row) }, 'work on a due row failed');
    }
  }
}
