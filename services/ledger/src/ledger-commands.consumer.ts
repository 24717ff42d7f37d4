import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { type MessageHandler, on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';
import { AppError } from '@pixmesh/kernel/app-error';

import type { LedgerEngine } from '#engine/ledger-engine.ts';
import { failpoint } from '#failpoints.ts';

import { type CommandMessageType, FROM_MESSAGE } from '#commands/from-message.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';

/** Messages of one partition that may be in hand at once: enough to fill a batch of the engine. */
const IN_HAND_MAX = 250;

export type LedgerCommandsDeps = {
  engine: Pick<LedgerEngine, 'submit'>;
  /** For the sender of a command that was decided before and that asks again. */
  republishOutcome(commandId: string): Promise<void>;
};

/**
 * Commands of the topic. They go to the engine in their order and without waiting for each other, so that a fetch
 * becomes a batch; the engine keeps the order of each account.
 */
export function ledgerCommandsConsumer(deps: LedgerCommandsDeps): ConsumerGroup {
  const types = Object.keys(LEDGER_COMMANDS) as CommandMessageType[];
  return {
    ...CONSUMER_GROUPS.ledgerCommands,
    handlers: types.map((type) => handlerOf(deps, type)),
    concurrency: { max: IN_HAND_MAX },
  };
}

function handlerOf(
  { engine, republishOutcome }: LedgerCommandsDeps,
  type: CommandMessageType,
): MessageHandler {
  // One entry of each table belongs together; the compiler only sees their unions.
  const toCommand = FROM_MESSAGE[type] as (message: unknown) => LedgerCommand;
  return on(LEDGER_COMMANDS[type] as MessageType, async (message, { isResend }) => {
    const command = toCommand(message);
    const outcome = await engine.submit(command);
    if (outcome.kind === 'rejected') {
      // Another command under an id that is taken is parked under a code of its own.
      const code = outcome.reason === 'other_content' ? 'CONFLICT' : 'MESSAGE_INVALID';
      throw new AppError(code, { message: outcome.message });
    }
    if (!outcome.repeated) await failpoint('ledger.command.after-commit');
    else if (isResend) await republishOutcome(command.commandId);
  });
}
