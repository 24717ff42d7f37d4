import type { Logger } from '@pixmesh/telemetry/logger';

import { createWakeSignal, type WakeSignal } from './wake-signal.ts';

/** Pauses after failures: nothing is lost, and what is away is not asked all the time. */
const RETRY_DEFAULT = { firstMs: 250, maxMs: 2_000 };
/** A turn that takes longer hangs, and the process is better restarted. */
const TURN_MS_MAX = 60_000;

export type TurnContext = {
  /** Whether the loop was notified since its last turn began. */
  isWoken: boolean;
  /** Aborted once the loop is to stop, for turns of many steps. */
  stopping: AbortSignal;
};

export type NextTurn = {
  /** From the end of this turn to the beginning of the next one; a notification ends it. None where it is 0 or less. */
  pauseMs: number;
  /** From the beginning of this turn to that of the next one at least: what is notified meanwhile shares a turn. */
  gatherMs?: number;
};

export type PollingLoopOptions = {
  /** Names the loop in the log. */
  name: string;
  logger: Logger;
  /** One round of work; answers how soon the next one is wanted. */
  turn(context: TurnContext): Promise<NextTurn>;
  /** Ends pauses; a loop without one only polls. */
  signal?: WakeSignal;
  /** Before the first turn. */
  firstPauseMs?: number;
  /** Pauses after failures, doubled from the first to the longest. Notifications do not end them. */
  retry?: { firstMs: number; maxMs: number };
};

/** Disposing it waits for the turn in progress. */
export type PollingLoop = AsyncDisposable & {
  /** False once a turn hangs. */
  isAlive(): boolean;
};

type StoppableLoop = PollingLoop & {
  /** Begins no more turns. */
  stopTurns(): void;
};

/**
 * Turns for as long as the process lives: after each pause, and as soon as its signal is notified. What is notified
 * during a turn is followed by another one, so no hint is lost. It never gives up: a turn that fails is logged once
 * and repeated, at growing intervals, until one succeeds.
 */
export function startPollingLoop(options: PollingLoopOptions): StoppableLoop {
  const { name, logger, turn, signal = createWakeSignal(), retry = RETRY_DEFAULT } = options;
  const stopping = new AbortController();
  /** When the current turn began, or the next one is due at the latest. */
  let turnMs = performance.now();
  let failures = 0;
  let endPause: (() => void) | null = null;
  const running = loop();
  return {
    isAlive: () => performance.now() - turnMs < TURN_MS_MAX,
    stopTurns,
    [Symbol.asyncDispose]: async () => {
      stopTurns();
      await running;
    },
  };

  function stopTurns(): void {
    stopping.abort();
    endPause?.();
  }

  async function loop(): Promise<void> {
    if (options.firstPauseMs) await pause(options.firstPauseMs, { isWakeable: true });
    while (!stopping.signal.aborted) {
      const startedMs = performance.now();
      turnMs = startedMs;
      const isWoken = signal.take();
      try {
        const next = await turn({ isWoken, stopping: stopping.signal });
        recovered();
        await pause(next.pauseMs, { isWakeable: true });
        await pause(startedMs + (next.gatherMs ?? 0) - performance.now(), { isWakeable: false });
      } catch (error) {
        failed(error);
        const retryMs = Math.min(retry.firstMs * 2 ** (failures - 1), retry.maxMs);
        await pause(retryMs, { isWakeable: false });
      }
    }
  }

  function recovered(): void {
    if (failures > 0) logger.info({ job: name, failures }, 'job recovered');
    failures = 0;
  }

  function failed(error: unknown): void {
    failures += 1;
    if (failures > 1 || stopping.signal.aborted) return;
    logger.warn({ err: error, job: name }, 'job failed, retrying');
  }

  /** Ends after the time or at a stop, and where it is wakeable at a notification. */
  async function pause(ms: number, { isWakeable }: { isWakeable: boolean }): Promise<void> {
    if (ms <= 0 || stopping.signal.aborted || (isWakeable && signal.isNotified())) return;
    turnMs = performance.now() + ms;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, ms);
      endPause = end;
      if (isWakeable) signal.listen(end);
      function end(): void {
        clearTimeout(timer);
        signal.listen(null);
        endPause = null;
        resolve();
      }
    });
  }
}
