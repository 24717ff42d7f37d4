import {
  CreditReceivedPix,
  SuspendReceivedPix,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/messaging';

import { bookReceivedPix, type BookReceivedPixDeps } from './book-received-pix.ts';
import { fromCredit, fromSuspend } from './received-pix-command.ts';

/** Commands of the topic, in order per account. */
export function receivedPixConsumer(deps: BookReceivedPixDeps): ConsumerGroup {
  return {
    groupId: 'ledger.commands',
    topics: [TOPICS.ledgerCommands],
    handlers: [
      on(CreditReceivedPix, async (message) => {
        await bookReceivedPix(deps, fromCredit(message));
      }),
      on(SuspendReceivedPix, async (message) => {
        await bookReceivedPix(deps, fromSuspend(message));
      }),
    ],
  };
}
