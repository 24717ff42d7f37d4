import type { Logger } from '@pixmesh/telemetry/logger';

/** The truth behind every hint: what is due is found this soon, whatever was lost. */
const POLL_INTERVAL_MS = 200;
/** Between the beginnings of two turns: what comes meanwhile shares the next one. */
const TURN_INTERVAL_MS = 8;
/** Waits while the database is away. */
const RETRY_DELAY_MS = 250;
const RETRY_DELAY_MS_MAX = 2_000;
/** A loop that has not turned for this long is stuck: the process is better restarted. */
const SILENCE_MS_MAX = 60_000;

export type SendLoop = {
  /** Asks for a turn now. While one is under way, another follows it: no hint is lost. */
  wake(): void;
  isAlive(): boolean;
  /** Ends after the turn in progress. */
  stop(): Promise<void>;
};

/** Answers whether another turn should follow at once. */
type Turn = (isPoll: boolean) => Promise<boolean>;

/**
 * Turns whenever it is woken, and at every poll. It never gives up: while the database is away it waits and goes on.
 */
export function startSendLoop(turn: Turn, logger: Logger): SendLoop {
  const stopping = new AbortController();
  let isWoken = false;
  let turnedMs = performance.now();
  let polledMs = -Infinity;
  let wakeUp: (() => void) | null = null;
  const running = loop();
  return {
    wake: () => {
      isWoken = true;
      wakeUp?.();
    },
    isAlive: () => performance.now() - turnedMs < SILENCE_MS_MAX,
    stop: async () => {
      stopping.abort();
      wakeUp?.();
      await running;
    },
  };

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      turnedMs = performance.now();
      isWoken = false;
      try {
        await turnOnce();
        failures = 0;
        await waitForNext();
      } catch (error) {
        failures += 1;
        if (failures === 1) logger.warn({ err: error }, 'sender waits for the database');
        polledMs = -Infinity;
        await pause(Math.min(RETRY_DELAY_MS * 2 ** failures, RETRY_DELAY_MS_MAX));
      }
    }
  }

  async function turnOnce(): Promise<void> {
    const isPoll = turnedMs - polledMs >= POLL_INTERVAL_MS;
    if (isPoll) polledMs = turnedMs;
    if (await turn(isPoll)) isWoken = true;
  }

  async function waitForNext(): Promise<void> {
    const nowMs = performance.now();
    if (!isWoken) await pause(polledMs + POLL_INTERVAL_MS - nowMs);
    const restMs = turnedMs + TURN_INTERVAL_MS - performance.now();
    if (restMs > 0 && isWoken) await pause(restMs);
  }

  /** Ends early when the loop is to stop, and when it is woken unless that has happened already. */
  async function pause(ms: number): Promise<void> {
    if (ms <= 0 || stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const isGathering = isWoken;
      const timer = setTimeout(end, ms);
      wakeUp = () => {
        if (!isGathering || stopping.signal.aborted) end();
      };
      function end(): void {
        clearTimeout(timer);
        wakeUp = null;
        resolve();
      }
    });
  }
}
