import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { createOpenedSecrets } from '#attempts/opened-secrets.ts';
import { createOutcomeRecorder } from '#attempts/outcome-recorder.ts';
import type { SendDeps } from '#attempts/send-delivery.ts';
import { observeQueue } from '#events.ts';
import type { Exchange } from '#exchange/exchange.ts';
import { countDueLanes } from '#lanes/count-due-lanes.sql.ts';
import { START_MARGIN_MS } from '#lanes/lease.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { createLaneKeeper } from './lane-keeper.ts';
import { createRunningSends } from './running-sends.ts';
import { startSendLoop } from './send-loop.ts';
import { createSenderTurns } from './sender-turns.ts';

/** Beyond the deadline of the last request, for its outcome to be stored. */
const DRAIN_MARGIN_MS = 2_000;

export type Sender = {
  /** Says that something is due in these lanes, or anywhere, so that nobody waits for the next poll. */
  wake(laneIds?: readonly string[]): void;
  isAlive(): boolean;
  /**
   * Takes up no more, hands its lanes over, and waits for the requests in flight and their outcomes, within a bound.
   */
  stop(): Promise<void>;
};

export type SenderDeps = {
  db: Database;
  clock: ScheduleClock;
  logger: Logger;
  exchange: Pick<Exchange, 'post'>;
  sealingPrivateKeys: string;
  timeoutMs: number;
  leaseMs: number;
  inFlightMax: number;
  inFlightPerLaneMax: number;
};

/**
 * Serves lanes: takes those in which something is due, fetches it, sends it, at most so many at a time in all and per
 * lane, and lets lanes go that have nothing to do. A lane has one sender at a time, so its bound holds over all
 * processes, and a receiver that hangs holds a bounded share. A send keeps its slot until the outcome is stored, so
 * memory, and repeats after a crash, are bounded by the slots.
 */
export function startSender(deps: SenderDeps): Sender {
  const { db, logger } = deps;
  const keeper = createLaneKeeper(deps);
  const recorder = createOutcomeRecorder({ ...deps, inFlight: () => sends.size() });
  const sendDeps: SendDeps = {
    exchange: deps.exchange,
    recorder,
    logger,
    secrets: createOpenedSecrets(deps.sealingPrivateKeys),
    leaseLeftMsMin: deps.timeoutMs + START_MARGIN_MS,
  };
  const sends = createRunningSends({
    sendDeps,
    logger,
    onEnd: ({ lane }) => {
      if (lane.isDirty || turns.isSaturated()) loop.wake();
    },
  });
  const turns = createSenderTurns({ ...deps, keeper, recorder, sends });
  const loop = startSendLoop(turns.turn, logger);
  observeQueue({
    inFlight: sends.size,
    lanes: () => keeper.lanes.values(),
    readDue: () => countDueLanes(db, deps),
  });
  return {
    wake: (laneIds = []) => {
      turns.markDue(laneIds);
      loop.wake();
    },
    isAlive: loop.isAlive,
    stop: async () => {
      const limit = delay(deps.timeoutMs + DRAIN_MARGIN_MS, undefined, { ref: false });
      await Promise.race([drain(), limit]);
    },
  };

  /** Each lane goes as soon as nothing of it is in flight; a database that is away does not hold up the stop. */
  async function drain(): Promise<void> {
    await loop.stop();
    do {
      await keeper.returnIdle().catch(() => undefined);
      await sends.nextEnd();
    } while (sends.size() > 0);
    await keeper.returnIdle().catch(() => undefined);
  }
}
