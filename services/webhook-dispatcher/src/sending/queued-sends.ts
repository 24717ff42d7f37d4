import type { DueDelivery, QueuedDelivery } from '#attempts/due-delivery.ts';
import type { OutcomeRecorder } from '#attempts/outcome-recorder.ts';
import { type OwnedLane, roomOf } from '#lanes/owned-lane.ts';

import type { DeliveryRates } from './delivery-rates.ts';
import type { LaneKeeper } from './lane-keeper.ts';
import { SCARCE_SHARE } from './plan-fetch.ts';
import type { RunningSends } from './running-sends.ts';
import type { SenderTurns } from './sender-turns.ts';

/** What is queued by the sender's own process, sent without a turn. */
export type QueuedSends = {
  /**
   * To be called before something is queued: lanes that are served from here on may find it. What is answered begins
   * its sends, lane by lane, where nothing else waits, and answers the lanes of all others.
   */
  prepareSends(): (queued: readonly QueuedDelivery[]) => string[];
};

type QueuedSendsDeps = {
  keeper: Pick<LaneKeeper, 'lanes' | 'markServed'>;
  recorder: Pick<OutcomeRecorder, 'isStoringLate'>;
  rates: Pick<DeliveryRates, 'isLimited'>;
  sends: Pick<RunningSends, 'size' | 'begin'>;
  turns: Pick<SenderTurns, 'isBusy' | 'lastServed' | 'isWaiting'>;
  inFlightMax: number;
  inFlightPerLaneMax: number;
  /** What must be left of a lane's lease for a request to begin. */
  leaseLeftMsMin: number;
};

/**
 * Not beside a turn, which may be fetching what is queued or releasing its lane, nor where the lane was served since:
 * what is queued may have been found then, and would be sent twice. Behind anything that waits it waits too: accounts
 * and lanes have their turns only there (ADR 0047).
 */
export function createQueuedSends(deps: QueuedSendsDeps): QueuedSends {
  const { keeper, turns, sends } = deps;
  return {
    prepareSends: () => {
      const servedBefore = turns.lastServed();
      return (queued) =>
        [...Map.groupBy(queued, ({ laneId }) => laneId)].flatMap(([laneId, ofLane]) =>
          sendAll(laneId, { ofLane, servedBefore }) ? [] : [laneId],
        );
    },
  };

  /** Answers whether it has begun all of them. */
  function sendAll(
    laneId: string,
    { ofLane, servedBefore }: { ofLane: readonly QueuedDelivery[]; servedBefore: number },
  ): boolean {
    const lane = keeper.lanes.get(laneId);
    if (turns.isBusy() || lane === undefined) return false;
    const queued = ofLane.flatMap(({ due }) => due ?? []);
    if (
      queued.length < ofLane.length ||
      lane.servedNumber > servedBefore ||
      !mayBegin(lane, queued)
    ) {
      return false;
    }
    keeper.markServed(lane);
    const fetchedMs = performance.now();
    lane.activeMs = fetchedMs;
    for (const due of queued) sends.begin({ due, lane, fetchedMs, wasRateLimited: false });
    return true;
  }

  /** Whether nothing else waits for the slots of the lane, of its account or of the process, and none will have to. */
  function mayBegin(lane: OwnedLane, queued: readonly DueDelivery[]): boolean {
    const { mayBeDue, isDraining, isTakenOver, failureCount, accountId } = lane;
    if (mayBeDue || isDraining || isTakenOver || failureCount > 0) return false;
    if (deps.recorder.isStoringLate() || deps.rates.isLimited(accountId)) return false;
    const nowMs = performance.now();
    if (turns.isWaiting(accountId) || lane.leaseEndsMs - nowMs < deps.leaseLeftMsMin) return false;
    const room = roomOf(lane, deps.inFlightPerLaneMax, nowMs);
    const freeShare = 1 - SCARCE_SHARE;
    return queued.length <= room && sends.size() + queued.length <= deps.inFlightMax * freeShare;
  }
}
