/**
 * Wakes one loop when there is work. It is made before the loop and before those who notify it, so that none of them
 * is bound late: what is notified before the loop has started wakes its first turn.
 */
export type WakeSignal = {
  /**
   * How often its loop polls beside whatever else wakes it; null: as often as the loop's own interval.
   */
  readonly pollMs: number | null;
  notify(): void;
  /** Whether it was notified since the loop last took it. */
  isNotified(): boolean;
  /** For the loop, at the beginning of a turn: answers whether it was notified, and begins anew. */
  take(): boolean;
  /** For the loop, while it pauses: called at every notification until another listener or null takes its place. */
  listen(listener: (() => void) | null): void;
};

export function createWakeSignal({ pollMs = null }: { pollMs?: number | null } = {}): WakeSignal {
  let isNotified = false;
  let notifyLoop: (() => void) | null = null;
  return {
    pollMs,
    notify: () => {
      isNotified = true;
      notifyLoop?.();
    },
    isNotified: () => isNotified,
    take: () => {
      const wasNotified = isNotified;
      isNotified = false;
      return wasNotified;
    },
    listen: (listener) => {
      notifyLoop = listener;
    },
  };
}
