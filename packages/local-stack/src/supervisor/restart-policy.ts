/** A process that ends by itself sooner than this after it was ready counts as a failed boot. */
const STABLE_AFTER_MS = 1_000;
/** Failed boots are counted over this window. */
const FAILURE_WINDOW_MS = 30_000;
/** So many failed boots in the window are answered at once; the following ones wait. */
const IMMEDIATE_RESTARTS_MAX = 4;
const FIRST_DELAY_MS = 500;
const DELAY_MS_MAX = 5_000;
/** Bounds the list of recorded deaths of one process. */
const DEATHS_MAX = 100;

export interface Death {
  atMs: number;
  /** Whether the process could not get up, as opposed to being killed while it was up. */
  failedBoot: boolean;
}

/** Whether a life counts as a failed boot: never ready, or gone by itself right after. */
export function isFailedBoot(life: {
  readyForMs: number | undefined;
  signal: NodeJS.Signals | null;
}): boolean {
  if (life.readyForMs === undefined) return true;
  return life.signal === null && life.readyForMs < STABLE_AFTER_MS;
}

/**
 * How long to wait before a dead process is started again. A process that is killed while it is up
 * comes back at once, however often; only one that cannot get up is slowed down.
 */
export function restartDelayMs(deaths: readonly Death[], nowMs: number): number {
  if (deaths.at(-1)?.failedBoot !== true) return 0;
  const failures = recentDeaths(deaths, nowMs).filter((death) => death.failedBoot).length;
  if (failures <= IMMEDIATE_RESTARTS_MAX) return 0;
  const doublings = failures - IMMEDIATE_RESTARTS_MAX - 1;
  return Math.min(FIRST_DELAY_MS * 2 ** doublings, DELAY_MS_MAX);
}

/** Drops deaths that no decision looks at any more, so that the list stays bounded. */
export function recentDeaths(deaths: readonly Death[], nowMs: number): Death[] {
  return deaths.filter((death) => nowMs - death.atMs <= FAILURE_WINDOW_MS).slice(-DEATHS_MAX);
}
