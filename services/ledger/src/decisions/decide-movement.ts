import type {
  BookAcquirerTariff,
  CreditPayoutReturn,
  CreditReceivedPix,
  ReleasePending,
  SuspendPayout,
  SuspendReceivedPix,
} from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';
import { TEMPLATES, type Template } from '#decisions/templates.ts';
import { assertNever } from '@pixmesh/kernel/app-error';

import type { BatchDraft } from './batch-draft.ts';
import type { SuspenseWrite } from './batch-state.ts';

type Booking = { template: Template; resourceId: string | null };

type Movement =
  | CreditReceivedPix
  | SuspendReceivedPix
  | ReleasePending
  | CreditPayoutReturn
  | SuspendPayout
  | BookAcquirerTariff;

/** Money that comes, becomes available, or stands in suspense. */
export function decideMovement(draft: BatchDraft, command: Movement): Outcome {
  switch (command.kind) {
    case 'credit_received_pix':
      return creditReceivedPix(draft, command);
    case 'suspend_received_pix':
      return suspendReceivedPix(draft, command);
    case 'release_pending':
      return releasePending(draft, command);
    case 'credit_payout_return':
      return move(draft, command, {
        template: TEMPLATES.creditPayoutReturn,
        resourceId: command.payoutId,
      });
    case 'suspend_payout':
      return suspendPayout(draft, command);
    case 'book_acquirer_tariff':
      return move(draft, command, { template: TEMPLATES.bookAcquirerTariff, resourceId: null });
    default:
      return assertNever(command);
  }
}

/** Pending until its release; a time that has passed means at once (decision 133). */
function creditReceivedPix(draft: BatchDraft, command: CreditReceivedPix): Outcome {
  const { commandId, accountId, amount, releaseAt, chargeId: resourceId } = command;
  if (releaseAt === null || releaseAt.getTime() <= draft.nowMs) {
    const outcome = move(draft, command, { template: TEMPLATES.creditReceivedPix, resourceId });
    if (outcome.kind === 'decided') draft.credited(command);
    return outcome;
  }
  const outcome = move(draft, command, {
    template: TEMPLATES.creditReceivedPixPending,
    resourceId,
  });
  if (outcome.kind === 'decided') {
    draft.credited(command);
    draft.writes.releases.push({ commandId, accountId, amount, releaseAt });
  }
  return outcome;
}

function suspendReceivedPix(draft: BatchDraft, command: SuspendReceivedPix): Outcome {
  const { endToEndId, chargeId, amount, reason } = command;
  const booking = { template: TEMPLATES.suspendReceivedPix, resourceId: chargeId };
  return suspend(draft, command, {
    booking,
    item: { endToEndId, chargeId, payoutId: null, amount, reason },
  });
}

/** Nobody waits for its outcome: the balance itself tells. */
function releasePending(draft: BatchDraft, command: ReleasePending): Outcome {
  const money = { amount: command.amount, fee: 0n };
  const outcome = draft.book(command, {
    template: TEMPLATES.releasePending,
    money,
    resourceId: null,
  });
  if (outcome.kind === 'decided') draft.writes.releasesDone.push(command.creditId);
  return outcome;
}

function suspendPayout(draft: BatchDraft, command: SuspendPayout): Outcome {
  const { endToEndId, payoutId, reason, direction } = command;
  const amount = direction === 'in' ? command.amount : 0n - command.amount;
  const template = direction === 'in' ? TEMPLATES.suspendPayoutIn : TEMPLATES.suspendPayoutOut;
  return suspend(draft, command, {
    booking: { template, resourceId: payoutId },
    item: { endToEndId, chargeId: null, payoutId, amount, reason },
  });
}

/** None of these can fall below a floor: they take from what mirrors the acquirer, or from suspense. */
function move(
  draft: BatchDraft,
  command: Exclude<Movement, ReleasePending>,
  booking: Booking,
): Outcome {
  const money = { amount: command.amount, fee: 0n };
  const outcome = draft.book(command, { ...booking, money });
  if (outcome.kind === 'decided') draft.announce(command, 'booked', { moved: command.amount });
  return outcome;
}

type NamedByCommand = 'commandId' | 'accountId' | 'createdAtMs' | 'resolvedAtMs';

function suspend(
  draft: BatchDraft,
  command: SuspendReceivedPix | SuspendPayout,
  told: { booking: Booking; item: Omit<SuspenseWrite, NamedByCommand> },
): Outcome {
  const { commandId, accountId } = command;
  const createdAtMs = draft.timeFor(accountId);
  const outcome = move(draft, command, told.booking);
  if (outcome.kind === 'decided') {
    const stands = { commandId, accountId, createdAtMs, resolvedAtMs: null };
    draft.writes.suspenseItems.push({ ...stands, ...told.item });
  }
  return outcome;
}
