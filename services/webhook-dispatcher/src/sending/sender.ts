import { within } from '@pixmesh/kernel/within';
import { isDatabaseAway } from '@pixmesh/postgres/database-error';
import type { Database } from '@pixmesh/postgres/pool';
import { createPollPace } from '@pixmesh/service/poll-pace';
import { type NextTurn, startPollingLoop } from '@pixmesh/service/polling-loop';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';

import { createOpenedSecrets } from '#attempts/opened-secrets.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from '#attempts/outcome-recorder.ts';
import { observeSender } from '#reports.ts';
import type { Exchange } from '#exchange/exchange.ts';
import { START_MARGIN_MS } from '#lanes/lease.ts';
import { waitsForStoring } from '#lanes/owned-lane.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { createDeliveryRates } from './delivery-rates.ts';
import { createLaneKeeper, type LaneKeeper } from './lane-keeper.ts';
import { createQueuedSends, type QueuedSends } from './queued-sends.ts';
import { createRunningSends } from './running-sends.ts';
import { createSenderTurns } from './sender-turns.ts';

/** Whatever was not notified: what is due is found this soon, unless the sender has had no lane for seconds. */
const POLL_INTERVAL_MS = 200;
/** Between the beginnings of two turns: what comes meanwhile shares the next one. */
const TURN_INTERVAL_MS = 8;
/** Beyond the deadline of the last request, for its outcome to be stored. */
export const DRAIN_MARGIN_MS = 2_000;

/**
 * Disposing it fetches no more, returns its lanes, and waits for the requests in flight and their outcomes, within a
 * bound.
 */
export type Sender = AsyncDisposable &
  QueuedSends & {
    /** Something is due in these lanes, or in any where none is named: it does not wait for the next poll. */
    wake(laneIds?: readonly string[]): void;
    serves(laneIds: readonly string[]): boolean;
    isAlive(): boolean;
    state(): SenderState;
    /** Leaves this part of its busy lanes to other senders. */
    leave(share: number): void;
  };

/** How much a sender has to do. */
export type SenderState = { lanes: number; slotsUsed: number; slotsMax: number };

export type SenderDeps = {
  db: Database;
  clock: ScheduleClock;
  logger: Logger;
  exchange: Pick<Exchange, 'post'>;
  sealingPrivateKeys: string;
  timeoutMs: number;
  leaseMs: number;
  processId: string;
  inFlightMax: number;
  inFlightPerLaneMax: number;
};

/**
 * Serves lanes: claims those in which something is due, fetches it, sends it, at most so many at a time in all and per
 * lane, and releases lanes that have nothing to do. A lane has one sender at a time, so its bound holds over all
 * processes, and a receiver that hangs holds a bounded share. A send keeps its slot of the lane until the receiver has
 * answered, and its slot of the process until the outcome is stored: memory, and repeats after a crash, are bounded by
 * the slots of the process, and per lane by requests and outcomes together (ADR 0046).
 */
export function startSender(deps: SenderDeps): Sender {
  const { logger } = deps;
  const signal = createWakeSignal();
  const keeper = createLaneKeeper(deps);
  const recorder = createOutcomeRecorder({
    ...deps,
    inFlight: () => sends.size(),
    waitsForStoring: (laneId) => {
      const lane = keeper.lanes.get(laneId);
      return lane !== undefined && lane.mayBeDue && waitsForStoring(lane, deps.inFlightPerLaneMax);
    },
  });
  const sends = createRunningSends({
    sendDeps: sendDepsOf(deps, recorder),
    logger,
    onRoom: ({ lane }) => {
      if (lane.mayBeDue || turns.isSaturated()) signal.notify();
    },
  });
  const rates = createDeliveryRates({
    ...deps,
    accountOf: (laneId) => keeper.lanes.get(laneId)?.accountId,
  });
  const turns = createSenderTurns({ ...deps, keeper, rates, recorder, sends });
  const parts = { keeper, rates, recorder, sends, turns };
  const queued = createQueuedSends({ ...deps, ...parts, leaseLeftMsMin: leaseLeftMsMinOf(deps) });
  const pace = createPollPace(POLL_INTERVAL_MS);
  let polledMs = -Infinity;
  const loop = startPollingLoop({ name: 'sender', logger, signal, turn });
  const state = (): SenderState => ({
    lanes: keeper.lanes.size,
    slotsUsed: sends.size(),
    slotsMax: deps.inFlightMax,
  });
  observeSender({ state, lanes: () => keeper.lanes.values(), accounts: sends.accounts });
  return {
    wake: (laneIds = []) => {
      turns.markDue(laneIds);
      signal.notify();
    },
    serves: (laneIds) => laneIds.every((id) => keeper.lanes.has(id)),
    ...queued,
    isAlive: loop.isAlive,
    state,
    leave: keeper.leave,
    [Symbol.asyncDispose]: async () => {
      await within(deps.timeoutMs + DRAIN_MARGIN_MS, drain(), undefined);
    },
  };

  /** A poll is due at its interval, however often the sender is woken. */
  async function turn(): Promise<NextTurn> {
    const startedMs = performance.now();
    // A timer may end up to a millisecond early.
    const isPoll = startedMs - polledMs >= pace.intervalMs() - 1;
    if (isPoll) polledMs = startedMs;
    const isMore = await notingOutages(keeper, turns.turn(isPoll));
    pace.note(keeper.lanes.size > 0);
    const pauseMs = isMore ? 0 : Math.ceil(polledMs + pace.intervalMs() - performance.now());
    return { pauseMs, gatherMs: TURN_INTERVAL_MS };
  }

  /** Returns each lane as soon as nothing of it is in flight; an unavailable database does not delay the stop. */
  async function drain(): Promise<void> {
    await loop[Symbol.asyncDispose]();
    turns.end();
    do {
      await keeper.returnIdle().catch(() => undefined);
      await sends.nextEnd();
    } while (sends.size() > 0);
    await keeper.returnIdle().catch(() => undefined);
  }
}

function sendDepsOf(deps: SenderDeps, recorder: OutcomeRecorder) {
  return {
    exchange: deps.exchange,
    recorder,
    logger: deps.logger,
    secrets: createOpenedSecrets(deps.sealingPrivateKeys),
    leaseLeftMsMin: leaseLeftMsMinOf(deps),
  };
}

function leaseLeftMsMinOf({ timeoutMs }: SenderDeps): number {
  return timeoutMs + START_MARGIN_MS;
}

async function notingOutages<T>(keeper: LaneKeeper, turn: Promise<T>): Promise<T> {
  try {
    return await turn;
  } catch (error) {
    if (isDatabaseAway(error)) keeper.noteOutage();
    throw error;
  }
}
