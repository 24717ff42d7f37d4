import { CHARGE_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';
import type { z } from 'zod';

/**
 * The owner that the ledger has for the platform's own money; its commands keep their order under it (decision 141).
 */
export const PLATFORM_ACCOUNT_ID = '00000000-0000-7000-8000-000000000000';

/** Whose money a command moves; null: the platform's. */
type MoneyOwner = { accountId: AccountId | null; applicationId?: ApplicationId | null };

type Commands = typeof CHARGE_COMMANDS;

/**
 * One command to the ledger. Commands of one owner keep their order; they are no events of a charge and take no number
 * of its sequence.
 */
export function ledgerCommand<Type extends keyof Commands>(
  type: Type,
  { accountId, applicationId = null }: MoneyOwner,
  data: z.output<Commands[Type]['schema']>['data'],
): OutboundEvent {
  const message: MessageType<z.ZodObject> = CHARGE_COMMANDS[type];
  const place = { key: accountId ?? PLATFORM_ACCOUNT_ID, sequence: null };
  return outboundEvent(message, place, {
    event_id: newId(),
    type,
    version: 1,
    occurred_at: new Date().toISOString(),
    account_id: accountId,
    application_id: applicationId,
    data,
  });
}
