import { setTimeout as delay } from 'node:timers/promises';

import { HOLD_KIND_HEADER, LEDGER_EVENTS } from '@pixmesh/contracts/messages/ledger-event.v1';
import type { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { type MessageHandler, on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';
import { createMicroBatcher } from '@pixmesh/postgres/micro-batcher';
import type { Database } from '@pixmesh/postgres/pool';
import { endUnanswered } from '@pixmesh/postgres/unanswered-commands';
import type { z } from 'zod';

/** Commands that one statement ends. */
const BATCH_MAX = 500;
/** How long the next answers are gathered after a write. */
const GATHER_MS = 100;

type CommandType = keyof typeof LEDGER_COMMANDS;
type OutcomeType = keyof typeof LEDGER_EVENTS;
/** As it stands on the topic. */
type Outcome = z.input<(typeof LEDGER_EVENTS)[OutcomeType]['schema']>;

/** By what the ledger answers each command. */
const OUTCOMES = {
  'received_pix.credit': ['received_pix.credited'],
  'received_pix.suspend': ['received_pix.suspended'],
  'received_pix.return': ['received_pix.returned'],
  'suspense.resolve': ['suspense.resolved'],
  'suspense.credit': ['suspense.credited'],
  'hold.settle': ['hold.settled', 'hold.end_refused'],
  'hold.release': ['hold.released', 'hold.end_refused'],
  'payout_return.credit': ['payout_return.credited'],
  'payout.suspend': ['payout.suspended'],
  'acquirer_tariff.book': ['acquirer_tariff.booked'],
  'dispute.block': ['dispute.blocked'],
  'dispute.unblock': ['dispute.unblocked'],
  'dispute.return': ['dispute.returned'],
} as const satisfies Record<CommandType, readonly OutcomeType[]>;

/** Whose outcomes are handled: of these commands, about holds of this kind. */
type Sender = {
  db: Database;
  commands: readonly CommandType[];
  holdKind: 'payout' | 'refund';
};

/**
 * Handlers for the outcomes of a service's own commands: the one that is given for its type, if any, and then the
 * command it answers is unanswered no more. That is not waited for: a command whose end is lost is sent again, and
 * answered again. Outcomes of other services are skipped before they are decoded, as far as type and header tell.
 */
export function outcomeHandlers(
  { db, commands, holdKind }: Sender,
  handlers: readonly MessageHandler[],
): Required<Pick<ConsumerGroup, 'handlers' | 'settled'>> {
  const ends = createMicroBatcher<string, void>({
    batchMax: BATCH_MAX,
    write: async (commandIds) => {
      await endUnanswered(db, commandIds);
      await delay(GATHER_MS);
      return commandIds.map(() => undefined);
    },
  });
  const types = new Set<OutcomeType>(commands.flatMap((command) => OUTCOMES[command]));
  return { handlers: [...types].map(handlerOf), settled: ends.idle };

  function handlerOf(type: OutcomeType): MessageHandler {
    const message: MessageType = LEDGER_EVENTS[type];
    const given = handlers.find((candidate) => candidate.message.type === type);
    const { handle } = given ?? on(message, async () => undefined);
    return {
      message,
      concerns: ({ [HOLD_KIND_HEADER]: kind = holdKind }) => kind === holdKind,
      handle: async (value, delivery) => {
        await handle(value, delivery);
        // It has been parsed by the schema of its type.
        const { data } = value as Outcome;
        ends.submit(data.command_id).catch(() => undefined);
      },
    };
  }
}
