import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { type LeasedSlot, releaseSlots } from './send-slots.sql.ts';

/** How often slots are released whose leases leave no time for another call. */
const SWEEP_MS = 500;

/** `untilMs` by `performance.now()`: when its lease ends at the earliest. */
export type HeldSlot = LeasedSlot & { untilMs: number };

/** Slots of this process that no call has now. */
export type HeldSlots = AsyncDisposable & {
  keep(slots: readonly HeldSlot[]): void;
  /** The one that was kept last, if its lease leaves time for a call and so many are left behind it. */
  take(left: number): HeldSlot | null;
  takeAll(): HeldSlot[];
};

/**
 * Keeps slots between two calls, so that a busy sender neither leases nor releases one for each: they are leased for
 * longer than a call, and go back when their lease leaves no time for another one. `callMs`: what a call takes at most.
 */
export function createHeldSlots(deps: { db: Database; logger: Logger; callMs: number }): HeldSlots {
  const { db, logger, callMs } = deps;
  let idle: HeldSlot[] = [];
  let timer: NodeJS.Timeout | null = null;
  return {
    keep,
    take: (left) => {
      const last = idle.at(-1);
      return last && hasTime(last) && idle.length > left ? (idle.pop() ?? null) : null;
    },
    takeAll: () => idle.splice(0),
    [Symbol.asyncDispose]: async () => {
      if (timer !== null) clearTimeout(timer);
      await release(idle.splice(0));
    },
  };

  function keep(slots: readonly HeldSlot[]): void {
    idle.push(...slots);
    if (idle.length > 0) timer ??= setTimeout(sweep, SWEEP_MS).unref();
  }

  function sweep(): void {
    timer = null;
    const over = idle.filter((slot) => !hasTime(slot));
    idle = idle.filter(hasTime);
    keep([]);
    void release(over);
  }

  function hasTime({ untilMs }: HeldSlot): boolean {
    return untilMs - performance.now() > callMs;
  }

  /** A slot that cannot be released now is free when its lease ends. */
  async function release(slots: readonly HeldSlot[]): Promise<void> {
    if (slots.length === 0) return;
    await releaseSlots(db, slots).catch((error: unknown) => {
      logger.warn({ err: error }, 'send slots not released, their leases will end');
    });
  }
}
