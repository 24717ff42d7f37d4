import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/messaging';

import { holdRefusedHandlers } from '#refunds/hold-refused.ts';
import { suspenseHandlers } from '#suspense/suspense-handlers.ts';

import { markPaid } from '#received/mark-paid.ts';

/** Outcomes of ledger commands that concern charges. */
export function ledgerEventsConsumer(
  deps: Parameters<typeof markPaid>[0] & Parameters<typeof holdRefusedHandlers>[0],
): ConsumerGroup {
  return {
    groupId: 'charges.ledger-events',
    topics: [TOPICS.ledgerEvents],
    handlers: [
      on(ReceivedPixCredited, (event) => markPaid(deps, event)),
      ...suspenseHandlers(deps),
      ...holdRefusedHandlers(deps),
    ],
  };
}
