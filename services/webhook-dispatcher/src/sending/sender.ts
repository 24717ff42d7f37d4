import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { claimRepeated, observeQueue } from '#events.ts';
import type { Exchange } from '#exchange/exchange.ts';

import { claimDeliveries } from './claim-deliveries.sql.ts';
import { startClaimLoop } from './claim-loop.ts';
import { countDue } from './count-due.sql.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import type { ScheduleClock } from './schedule-clock.ts';
import { type DeliveryToSend, sendDelivery, type SendDeps } from './send-delivery.ts';
import { createSlots } from './slots.ts';
import { withholdDeliveries } from './withhold-deliveries.sql.ts';

/** Deliveries per claim. */
const CLAIM_SIZE_MAX = 100;
/** Beyond the deadline of the last request, for its outcome to be stored. */
const DRAIN_MARGIN_MS = 2_000;

export type Sender = {
  /** Says that something is due, so that nobody waits for the next poll. */
  kick(): void;
  isAlive(): boolean;
  /** Claims no more, and waits for the requests in flight and their outcomes, within a bound. */
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
 * Claims due deliveries and sends them, at most so many at a time in all and per lane, so that a receiver
 * that hangs holds a bounded share. A claim takes a slot before it is sent and gives it back only when the
 * outcome is stored, so memory and repeats after a crash are bounded by the slots.
 */
export function startSender(deps: SenderDeps): Sender {
  const slots = createSlots(deps.inFlightMax);
  const recorder = createOutcomeRecorder(deps);
  const sendDeps: SendDeps = { ...deps, recorder, startWithinMs: deps.leaseMs - deps.timeoutMs };
  const sends = new Set<Promise<void>>();
  const loop = startClaimLoop(claimAndSend, deps.logger);
  observeQueue({ inFlight: slots.inUse, readDue: () => countDue(deps.db, deps.clock) });
  return {
    kick: loop.kick,
    isAlive: loop.isAlive,
    stop: async () => {
      const limit = delay(deps.timeoutMs + DRAIN_MARGIN_MS, undefined, { ref: false });
      await Promise.race([drain(), limit]);
    },
  };

  async function claimAndSend(): Promise<number> {
    const limit = Math.min(slots.free(), CLAIM_SIZE_MAX);
    if (limit === 0 || recorder.isBehind()) return 0;
    const askedMs = performance.now();
    const { claimed, quietEndpointIds } = await claimDeliveries(deps.db, {
      clock: deps.clock,
      limit,
      leaseMs: deps.leaseMs,
      perLaneMax: deps.inFlightPerLaneMax,
      inFlight: slots.byLane(),
    });
    const answeredMs = performance.now();
    for (const delivery of claimed) {
      if (delivery.isRepeat) claimRepeated();
      begin({ ...delivery, askedMs, answeredMs });
    }
    return claimed.length + (await withhold(quietEndpointIds));
  }

  async function withhold(endpointIds: readonly string[]): Promise<number> {
    return endpointIds.length === 0
      ? 0
      : await withholdDeliveries(deps.db, deps.clock, endpointIds);
  }

  function begin(delivery: DeliveryToSend): void {
    slots.take(delivery.laneId);
    const send = sendDelivery(sendDeps, delivery)
      .catch((error: unknown) => {
        // The lease brings it back: an error of ours costs the merchant time, never an attempt.
        deps.logger.error({ err: error, delivery_id: delivery.id }, 'a delivery could not be sent');
      })
      .finally(() => {
        slots.release(delivery.laneId);
        sends.delete(send);
        loop.kick();
      });
    sends.add(send);
  }

  async function drain(): Promise<void> {
    await loop.stop();
    await Promise.all(sends);
  }
}
