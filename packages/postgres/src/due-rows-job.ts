import { OWN_WORK, runForAccount } from '@pixmesh/fair-share/current-account';
import { anyFree, type Share } from '@pixmesh/fair-share/share-of-places';
import { NIL_ID } from '@pixmesh/kernel/ids';
import {
  type NextTurn,
  type PollingLoop,
  startPollingLoop,
  type TurnContext,
} from '@pixmesh/service/polling-loop';
import { createWakeSignal, type WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { continueFrom, type TraceParent, withSpan } from '@pixmesh/telemetry/tracing';

import { createJobPlaces, type JobPlaces } from './job-places.ts';

const POLL_INTERVAL_MS = 250;
/** The first pause after a failure, and the longest. */
const RETRY = { firstMs: POLL_INTERVAL_MS, maxMs: 2_000 };

/** One way in which rows come due. */
export type RowSource<Row> = {
  /** Leases up to `limit` rows to this process, the most urgent first, and none of the accounts `except`. */
  take(limit: number, except: readonly string[]): Promise<Row[]>;
  /** Rows in one turn. */
  max: number;
  /** The pause between two turns of this source; none where it is absent. */
  intervalMs?: number;
};

type AskedSource<Row> = {
  source: RowSource<Row>;
  /** Whether it may have more than there was room for: then a free place is a reason to ask again. */
  hasMore: boolean;
  /** Whether the last turn that began with a free place had none for it. */
  wasLeftOut: boolean;
  lastTakenMs: number;
};

const NOT_ASKED_YET = { hasMore: false, wasLeftOut: false, lastTakenMs: Number.NEGATIVE_INFINITY };

export type DueRowsJobOptions<Row> = {
  /** Names the job in the log, and the span of one row's work. */
  name: string;
  logger: Logger;
  /** Notified when something has come due; without it a poll finds what is due. */
  signal?: WakeSignal;
  /** Rows that this process works on at the same time. */
  inFlightMax: number;
  /**
   * Asked in this order: what comes first gets the free places first. A source that found none in a turn comes first in
   * the next, so that one that never ends leaves the others their turns.
   */
  sources: readonly RowSource<Row>[];
  /**
   * The work on one row; it gives the lease back. What it throws is logged, and its lease ends by itself. Work of many
   * steps asks between them whether the job takes no more rows.
   */
  handle(row: Row, stopping: AbortSignal): Promise<void>;
  /** Fields of a log line about a row: ids only. */
  describe(row: Row): Record<string, string>;
  /** The trace that asked for the work. */
  parentOf(row: Row): TraceParent;
  /**
   * Whether the end of a row's work is a reason to ask for due rows, since it may have made some due. Without it only a
   * free place is one, where there was none for all. Default: true.
   */
  wakesAtEnds?: boolean;
  /**
   * How many places an account may have: `fourTimesFree` for work that takes as long as others take to answer. Accounts
   * that have their share are those that sources leave out. Default: any that is free.
   */
  share?: Share;
  /**
   * Accounts whose rows are left for later, whatever is free. Whoever lets them in again notifies the signal.
   */
  leaveOut?(): readonly string[];
  /**
   * Whose the row is, and in whose turns the work takes connections; null, or without it, in those of the installation
   * itself.
   */
  accountOf?(row: Row): string | null;
};

export type DueRowsJob<Row> = PollingLoop & {
  /** Takes no more due rows by itself. */
  takeNoMore(): void;
  /**
   * Takes up to `max` rows at once, for a caller that leases them with a statement of its own: `take` gets the number
   * of places that are kept for it, 0 where due rows may wait for a place. The rows that it answers are worked on like
   * all others.
   */
  takeNow(max: number, take: (places: number) => Promise<readonly Row[]>): Promise<void>;
};

/**
 * Takes due rows and works on them, for as long as the process lives: a bounded number at once, each in a span
 * of its own. Replicas share the rows by their leases. A poll finds what was not notified. Disposing it
 * takes no more rows and waits for those in work.
 */
export function startDueRowsJob<Row>(options: DueRowsJobOptions<Row>): DueRowsJob<Row> {
  const { name, logger, signal = createWakeSignal(), wakesAtEnds = true } = options;
  const pollMs = signal.pollMs ?? POLL_INTERVAL_MS;
  const taking = new Set<Promise<void>>();
  const noMore = new AbortController();
  const work = createRowsInWork(options, {
    stopping: noMore.signal,
    placeFreed: () => placeFreed(wakesAtEnds),
  });
  let isStopping = false;
  const sources = options.sources.map((source) => ({ source, ...NOT_ASKED_YET }));
  const loop = startPollingLoop({ name, logger, signal, retry: RETRY, turn });
  return {
    isAlive: loop.isAlive,
    takeNoMore,
    takeNow: (max, take) => track(taking, takeNow(max, take)),
    [Symbol.asyncDispose]: async () => {
      isStopping = true;
      takeNoMore();
      await loop[Symbol.asyncDispose]();
      await Promise.allSettled(taking);
      await work.ended();
    },
  };

  function takeNoMore(): void {
    noMore.abort();
    loop.stopTurns();
  }

  async function takeNow(
    max: number,
    take: (places: number) => Promise<readonly Row[]>,
  ): Promise<void> {
    const count = isStopping || isPlaceWanted(sources) ? 0 : Math.min(max, work.room([]));
    try {
      await work.fill(count, take);
    } finally {
      placeFreed();
    }
  }

  async function turn({ stopping }: TurnContext): Promise<NextTurn> {
    const taken = await takeDue(stopping);
    return { pauseMs: taken > 0 ? 0 : nextInMs(sources, pollMs) };
  }

  /** Rows taken by the sources that know no pause: while they give, the next turn follows at once. */
  async function takeDue(stopping: AbortSignal): Promise<number> {
    let taken = 0;
    const hadRoom = work.room(work.withoutRoom()) > 0;
    for (const asked of leftOutFirst(sources)) {
      const { source } = asked;
      if (stopping.aborted || restMs(asked) > 0) continue;
      asked.lastTakenMs = performance.now();
      const except = work.withoutRoom();
      const limit = Math.min(source.max, work.room(except));
      const leftOut = [...except, ...(options.leaveOut?.() ?? [])];
      const take = (places: number) => source.take(places, leftOut);
      const found = limit > 0 ? await work.fill(limit, take) : 0;
      asked.hasMore = found === limit || except.length > 0;
      if (hadRoom) asked.wasLeftOut = limit === 0;
      if (source.intervalMs === undefined) taken += found;
    }
    return taken;
  }

  function placeFreed(mayHaveMadeDue = false): void {
    if (mayHaveMadeDue || sources.some(({ hasMore }) => hasMore)) signal.notify();
  }
}

type RowsInWork<Row> = Pick<JobPlaces, 'room' | 'withoutRoom'> & {
  /** Has the rows that `take` answers worked on; the places are kept for them meanwhile. Answers how many there are. */
  fill(places: number, take: (places: number) => Promise<readonly Row[]>): Promise<number>;
  /** When all that is in work has ended. */
  ended(): Promise<void>;
};

function createRowsInWork<Row>(
  options: DueRowsJobOptions<Row>,
  { stopping, placeFreed }: { stopping: AbortSignal; placeFreed: () => void },
): RowsInWork<Row> {
  const places = createJobPlaces(options.inFlightMax, options.share ?? anyFree);
  const inFlight = new Set<Promise<void>>();
  return {
    room: places.room,
    withoutRoom: places.withoutRoom,
    fill: (count, take) => places.keepDuring(count, async () => begin(await take(count))),
    ended: async () => void (await Promise.all(inFlight)),
  };

  function begin(rows: readonly Row[]): number {
    for (const row of rows) {
      // As `accountsInTurn` has it, what belongs to no account is the nil id's.
      const account = options.accountOf?.(row) ?? NIL_ID;
      places.begin(account);
      const working = continueFrom(options.parentOf(row), () => workOn(options, row, stopping));
      void track(inFlight, working).then(() => end(account));
    }
    return rows.length;
  }

  function end(account: string): void {
    places.end(account);
    placeFreed();
  }
}

/** Whether rows may wait for a place. Those of a source with a pause wait for the end of it. */
function isPlaceWanted<Row>(sources: readonly AskedSource<Row>[]): boolean {
  return sources.some(({ source, hasMore }) => hasMore && source.intervalMs === undefined);
}

/** What found no place first. */
function leftOutFirst<Row>(sources: readonly AskedSource<Row>[]): AskedSource<Row>[] {
  return sources.toSorted((a, b) => Number(b.wasLeftOut) - Number(a.wasLeftOut));
}

/** A source that has a pause, and more, is asked again as soon as its pause is over. */
function nextInMs<Row>(sources: readonly AskedSource<Row>[], pollMs: number): number {
  const rests = sources.map((asked) =>
    asked.source.intervalMs && asked.hasMore ? restMs(asked) : pollMs,
  );
  return Math.max(1, Math.min(pollMs, ...rests));
}

/** What is left of the pause of a source. */
function restMs<Row>({ source, lastTakenMs }: AskedSource<Row>): number {
  return (source.intervalMs ?? 0) - (performance.now() - lastTakenMs);
}

async function workOn<Row>(
  options: DueRowsJobOptions<Row>,
  row: Row,
  stopping: AbortSignal,
): Promise<void> {
  const { name, logger, accountOf, handle } = options;
  try {
    await runForAccount(accountOf?.(row) ?? OWN_WORK, () =>
      withSpan(name, {}, () => handle(row, stopping)),
    );
  } catch (error) {
    logger.warn({ err: error, job: name, ...options.describe(row) }, 'work on a due row failed');
  }
}

async function track(under: Set<Promise<void>>, promise: Promise<void>): Promise<void> {
  under.add(promise);
  try {
    await promise;
  } finally {
    under.delete(promise);
  }
}
