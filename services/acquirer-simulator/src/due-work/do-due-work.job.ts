import { createPollPace } from '@pixmesh/service/poll-pace';
import {
  type NextTurn,
  type PollingLoop,
  startPollingLoop,
  type TurnContext,
} from '@pixmesh/service/polling-loop';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChangeDeps } from '#callbacks/announce.ts';
import { reviewOverdueDisputes } from '#disputes/disputes.sql.ts';
import { DUE_REFUNDS_MAX, endDueRefunds } from '#refunds/end-refunds.ts';
import { DUE_BATCH_MAX, moveDueSends } from '#sends/end-sends.ts';
import { NEXT_STEP_MS } from '#sends/end-sends.sql.ts';

import { readDueWork } from './due-work.sql.ts';
import { payDueCharge } from './pay-due-charge.ts';

export type DueWork = PollingLoop & {
  /** Notifies that something becomes due in that time. */
  expect(inMs: number): void;
};

type Deps = ChangeDeps & { logger: Logger };

/** What becomes due within one tick is done together. */
const TICK_MS = 40;
/** Finds what an earlier process left, and what was planned for later than this; less often after seconds without either. */
const POLL_INTERVAL_MS = 250;

/**
 * Does what is stored with a time: orders and refunds end, recipients send back, charges pay themselves, the time
 * for a defense ends. It wakes callbacks that have become due. The row's lock is its lease, so a step happens once, and
 * the next process goes on where one died.
 */
export function startDueWork(deps: Deps): DueWork {
  const signal = createWakeSignal();
  const pace = createPollPace(POLL_INTERVAL_MS);
  let expectedUntilMs = 0;
  let isTicking = false;
  const loop = startPollingLoop({ name: 'due work', logger: deps.logger, signal, turn });
  return { ...loop, expect };

  function expect(inMs: number): void {
    pace.note(true);
    // The poll is soon enough for what is further away.
    if (inMs > POLL_INTERVAL_MS) return;
    expectedUntilMs = Math.max(expectedUntilMs, performance.now() + inMs + TICK_MS);
    signal.notify();
  }

  /** Ticks while something is expected, the first time one tick after it was announced. */
  async function turn({ isWoken }: TurnContext): Promise<NextTurn> {
    const isAnnounced = isWoken && !isTicking;
    const isMore = !isAnnounced && (await doDueWork());
    isTicking = isMore || isAnnounced || expectedUntilMs > performance.now();
    if (!isTicking) return { pauseMs: pace.intervalMs() };
    return { pauseMs: 0, gatherMs: isMore ? 0 : TICK_MS };
  }

  /** Returns whether there may be more at once. */
  async function doDueWork(): Promise<boolean> {
    const due = await readDueWork(deps.db);
    pace.note(Object.values(due).includes(true));
    const moved = due.sends
      ? await deps.db.transaction((tx) => moveDueSends(tx, deps))
      : { count: 0, hasNext: false };
    const refunded = due.refunds ? await deps.db.transaction((tx) => endDueRefunds(tx, deps)) : 0;
    if (due.disputes) await reviewOverdueDisputes(deps.db);
    const paid = due.charges && (await payDueCharge(deps));
    if (moved.count > 0 || refunded > 0 || paid || due.callbacks) deps.wakeCallbacks();
    if (moved.hasNext) expect(NEXT_STEP_MS);
    return moved.count === DUE_BATCH_MAX || refunded === DUE_REFUNDS_MAX || paid;
  }
}
