import type { Logger } from '@pixmesh/telemetry/logger';

import { type DeliveryToSend, sendDelivery, type SendDeps } from '#attempts/send-delivery.ts';
import { endSend, beginSend } from '#lanes/owned-lane.ts';

export type RunningSends = {
  /** Requests that are out or whose outcomes are not stored yet. */
  size(): number;
  begin(send: DeliveryToSend): void;
  /** Resolves with the next one that ends. */
  nextEnd(): Promise<void>;
};

type RunningDeps = {
  sendDeps: SendDeps;
  logger: Logger;
  /** Called when one has ended, with its lane. */
  onEnd(send: DeliveryToSend): void;
};

/** The sends of this process; each holds a slot of its lane and of the process until its outcome is stored. */
export function createRunningSends({ sendDeps, logger, onEnd }: RunningDeps): RunningSends {
  const running = new Set<Promise<void>>();
  return {
    size: () => running.size,
    begin,
    nextEnd: async () => {
      if (running.size > 0) await Promise.race(running);
    },
  };

  function begin(send: DeliveryToSend): void {
    const { due, lane } = send;
    beginSend(lane, due);
    const ended = sendDelivery(sendDeps, send)
      .catch((error: unknown) => {
        // It is still queued: an error of ours costs time, never an attempt.
        logger.error({ err: error, delivery_id: due.deliveryId }, 'delivery not sent');
      })
      .finally(() => {
        endSend(lane, due.queueId);
        running.delete(ended);
        onEnd(send);
      });
    running.add(ended);
  }
}
