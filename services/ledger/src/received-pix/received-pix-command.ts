import { createHash } from 'node:crypto';

import type {
  CreditReceivedPix,
  SuspendReceivedPix,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId, ApplicationId, ChargeId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { z } from 'zod';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';

type CreditMessage = z.output<typeof CreditReceivedPix.schema>;
type SuspendMessage = z.output<typeof SuspendReceivedPix.schema>;

/** What to book of one received Pix, whichever of its two messages said so. */
export type ReceivedPixCommand = {
  commandId: string;
  accountId: AccountId;
  applicationId: ApplicationId | null;
  endToEndId: string;
  chargeId: ChargeId | null;
  amount: Cents;
  disposition:
    | { kind: 'credit'; releaseAt: Date | null }
    | { kind: 'suspend'; reason: SuspendMessage['data']['reason'] };
};

/** @throws AppError `MESSAGE_INVALID` without an account: money that nobody owns goes to suspense only */
export function fromCredit(message: CreditMessage): ReceivedPixCommand {
  if (message.account_id === null) {
    throw new AppError('MESSAGE_INVALID', {
      message: 'credit of a received Pix without an account',
    });
  }
  const releaseAt = message.data.release_at === null ? null : new Date(message.data.release_at);
  return { ...fromEither(message), disposition: { kind: 'credit', releaseAt } };
}

export function fromSuspend(message: SuspendMessage): ReceivedPixCommand {
  return { ...fromEither(message), disposition: { kind: 'suspend', reason: message.data.reason } };
}

function fromEither(
  message: CreditMessage | SuspendMessage,
): Omit<ReceivedPixCommand, 'disposition'> {
  return {
    commandId: message.data.command_id,
    accountId: (message.account_id ?? PLATFORM_ACCOUNT_ID) as AccountId,
    applicationId: message.application_id as ApplicationId | null,
    endToEndId: message.data.end_to_end_id,
    chargeId: message.data.charge_id as ChargeId | null,
    amount: toCents(message.data.amount),
  };
}

/**
 * Digest of what a command means. Whatever differs between two messages of one command, such as their event
 * id and time, does not count.
 */
export function fingerprintOf(command: ReceivedPixCommand): Buffer {
  const { disposition } = command;
  const meaning = [
    disposition.kind,
    command.accountId,
    command.endToEndId,
    command.chargeId,
    String(command.amount),
    disposition.kind === 'credit' ? disposition.releaseAt : disposition.reason,
  ];
  return createHash('sha256').update(JSON.stringify(meaning), 'utf8').digest();
}
