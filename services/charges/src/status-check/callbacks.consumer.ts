import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/messaging';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { hearOfPix } from './request-check-of-pix.sql.ts';
import { readCallbackItem } from './read-callback-item.ts';

type RequestCheckDeps = {
  db: Database;
  logger: Logger;
  wakeReadBack(): void;
  wakeNotices(): void;
};

/** Kinds of callback that charges owns; sends belong to payouts. */
const OWN_KINDS: ReadonlySet<string> = new Set(['received', 'received_return', 'unknown']);

/**
 * A callback is a reason to look now at the charge it names, or else at the Pix; it proves nothing (decisions 213, 217).
 */
export function callbacksConsumer(deps: RequestCheckDeps): ConsumerGroup {
  return {
    groupId: 'charges.acquirer-callbacks',
    topics: [TOPICS.acquirerCallbacks],
    handlers: [
      on(AcquirerCallback, async ({ data }) => {
        if (!OWN_KINDS.has(data.kind)) return;
        const heardOf = readCallbackItem(data.item);
        if (heardOf.chargeId === null && heardOf.endToEndId === null) {
          deps.logger.warn({ kind: data.kind }, 'a callback names neither a charge nor a Pix');
          return;
        }
        const heard = await hearOfPix(deps.db, heardOf, currentTraceParent());
        if (heard === 'charge') deps.wakeReadBack();
        if (heard === 'notice') deps.wakeNotices();
      }),
    ],
  };
}
