import { LEDGER_EVENTS } from '@pixmesh/contracts/messages/ledger-event.v1';
import type { MessageHandler } from '@pixmesh/kafka/message-handler';
import { createMicroBatcher } from '@pixmesh/kernel/micro-batcher';
import type { Database } from '@pixmesh/postgres/pool';
import { endUnanswered } from '@pixmesh/postgres/unanswered-commands';
import { z } from 'zod';

/** What every outcome says. */
const Outcome = z.object({ data: z.object({ command_id: z.uuid() }) });

/** Commands that one statement ends. */
const BATCH_MAX = 500;

/**
 * Handlers for every outcome that the ledger publishes: the one that is given for its type, if any, and then the
 * command it answers is unanswered no more. That is not waited for: a command whose end is lost is sent again, and
 * answered again.
 */
export function outcomeHandlers(
  db: Database,
  handlers: readonly MessageHandler[],
): MessageHandler[] {
  const ends = createMicroBatcher<string, void>({
    batchMax: BATCH_MAX,
    write: async (commandIds) => {
      await endUnanswered(db, commandIds);
      return commandIds.map(() => undefined);
    },
  });
  return Object.values(LEDGER_EVENTS).map((message) => {
    const handler = handlers.find((candidate) => candidate.message.type === message.type);
    return {
      message,
      handle: async (value, delivery) => {
        await handler?.handle(value, delivery);
        ends.submit(Outcome.parse(value).data.command_id).catch(() => undefined);
      },
    };
  });
}
