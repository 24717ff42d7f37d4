import type {
  CreditReceivedPix,
  SuspendReceivedPix,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import type { z } from 'zod';

import type { BookReceivedPixDeps } from '#received-pix/book-received-pix.ts';
import { receivedPixConsumer } from '#received-pix/received-pix.consumer.ts';

export type CreditWire = z.input<typeof CreditReceivedPix.schema>;
export type SuspendWire = z.input<typeof SuspendReceivedPix.schema>;

/** What tests vary of a command; the rest is valid and random. */
type Changes = {
  accountId?: string | null;
  endToEndId?: string;
  chargeId?: string | null;
  amount?: number;
};

/** A credit as it stands on the topic. */
export function aCredit(changes: Changes & { releaseAt?: Date | null } = {}): CreditWire {
  return {
    ...envelope(changes),
    type: 'received_pix.credit',
    data: { ...data(changes), release_at: changes.releaseAt?.toISOString() ?? null },
  };
}

/** A suspense booking as it stands on the topic. */
export function aSuspense(
  changes: Changes & { reason?: SuspendWire['data']['reason'] } = {},
): SuspendWire {
  return {
    ...envelope(changes),
    type: 'received_pix.suspend',
    data: { ...data(changes), reason: changes.reason ?? 'amount_mismatch' },
  };
}

/** The same command said again, as a republished or re-decided message would. */
export function again<Message extends CreditWire | SuspendWire>(message: Message): Message {
  return { ...message, event_id: newId(), occurred_at: new Date().toISOString() };
}

/** Gives a message to the service's own consumer, as the broker would. */
export async function handle(
  deps: BookReceivedPixDeps,
  message: CreditWire | SuspendWire,
): Promise<void> {
  const { handlers } = receivedPixConsumer(deps);
  const handler = handlers.find((candidate) => candidate.message.type === message.type);
  if (!handler) throw new Error(`nobody handles ${message.type}`);
  await handler.handle(message);
}

/** An end-to-end id in the form of the Central Bank. */
export function anEndToEndId(): string {
  return `E12345678202611211200${newId().replaceAll('-', '').slice(-11)}`;
}

function envelope(changes: Changes) {
  return {
    event_id: newId(),
    version: 1 as const,
    occurred_at: new Date().toISOString(),
    account_id: changes.accountId === undefined ? newId() : changes.accountId,
    application_id: null,
  };
}

function data(changes: Changes) {
  const endToEndId = changes.endToEndId ?? anEndToEndId();
  return {
    command_id: deriveCommandId('received_pix', endToEndId),
    end_to_end_id: endToEndId,
    charge_id: changes.chargeId === undefined ? newId() : changes.chargeId,
    amount: changes.amount ?? 1_000,
  };
}
