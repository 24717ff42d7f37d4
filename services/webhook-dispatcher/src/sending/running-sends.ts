import type { Logger } from '@pixmesh/telemetry/logger';

import { createReachedAccounts, type ReachedAccounts } from '#attempts/reached-accounts.ts';
import { type DeliveryToSend, sendDelivery, type SendDeps } from '#attempts/send-delivery.ts';
import { beginSend, endRequest, endSend } from '#lanes/owned-lane.ts';

export type RunningSends = {
  /** Requests that are out or whose outcomes are not stored yet. */
  size(): number;
  /** To which it has lately sent. */
  accounts: ReachedAccounts['count'];
  begin(send: DeliveryToSend): void;
  /** Resolves with the next one that ends. */
  nextEnd(): Promise<void>;
};

type RunningDeps = {
  sendDeps: Omit<SendDeps, 'onAnswer' | 'reached'>;
  logger: Logger;
  /** Called when its lane may have room for another one: at its answer, and once its outcome is stored. */
  onRoom(send: DeliveryToSend): void;
};

/**
 * The sends of this process. Each holds a slot of its lane until its receiver has answered, and a slot of the process
 * until its outcome is stored.
 */
export function createRunningSends({ sendDeps, logger, onRoom }: RunningDeps): RunningSends {
  const reached = createReachedAccounts();
  const deps: SendDeps = { ...sendDeps, reached, onAnswer };
  const running = new Set<Promise<void>>();
  return {
    size: () => running.size,
    accounts: reached.count,
    begin,
    nextEnd: async () => {
      if (running.size > 0) await Promise.race(running);
    },
  };

  function begin(send: DeliveryToSend): void {
    const { due, lane } = send;
    beginSend(lane, due);
    const ended = sendDelivery(deps, send)
      .catch((error: unknown) => {
        // It is still queued: an error of ours costs time, never an attempt.
        logger.error({ err: error, delivery_id: due.deliveryId }, 'delivery not sent');
      })
      .finally(() => {
        endSend(lane, due.queueId);
        running.delete(ended);
        onRoom(send);
      });
    running.add(ended);
  }

  function onAnswer(send: DeliveryToSend): void {
    endRequest(send.lane, send.due.queueId);
    onRoom(send);
  }
}
