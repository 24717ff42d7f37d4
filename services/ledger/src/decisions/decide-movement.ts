import { assertNever } from '@pixmesh/kernel/app-error';

import type {
  AcquirerTariffBook,
  PayoutReturnCredit,
  ReceivedPixCredit,
  PendingRelease,
  PayoutSuspend,
  ReceivedPixSuspend,
} from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';

import type { BatchDraft } from './batch-draft.ts';
import type { SuspenseWrite } from './batch-state.ts';
import { TEMPLATES, type Template } from './templates.ts';

type Move = { template: Template; resourceId: string | null };

type Movement =
  | ReceivedPixCredit
  | ReceivedPixSuspend
  | PendingRelease
  | PayoutReturnCredit
  | PayoutSuspend
  | AcquirerTariffBook;

/** Money that comes, becomes available, or stands in suspense. */
export function decideMovement(draft: BatchDraft, command: Movement): Outcome {
  switch (command.kind) {
    case 'received_pix.credit':
      return decideReceivedPixCredit(draft, command);
    case 'received_pix.suspend':
      return decideReceivedPixSuspend(draft, command);
    case 'pending.release':
      return decidePendingRelease(draft, command);
    case 'payout_return.credit':
      return move(draft, command, {
        template: TEMPLATES.payoutReturnCredit,
        resourceId: command.payoutId,
      });
    case 'payout.suspend':
      return decidePayoutSuspend(draft, command);
    case 'acquirer_tariff.book':
      return move(draft, command, { template: TEMPLATES.acquirerTariffBook, resourceId: null });
    default:
      return assertNever(command);
  }
}

/** Pending until its release; a time that has passed means at once (decision 133). */
function decideReceivedPixCredit(draft: BatchDraft, command: ReceivedPixCredit): Outcome {
  const { commandId, accountId, amount, releaseAt, chargeId: resourceId } = command;
  const isPending = releaseAt !== null && releaseAt.getTime() > draft.nowMs;
  const template = isPending ? TEMPLATES.receivedPixCreditPending : TEMPLATES.receivedPixCredit;
  const outcome = move(draft, command, { template, resourceId });
  if (outcome.kind === 'decided') {
    draft.credited(command);
    if (isPending) draft.writes.releases.push({ commandId, accountId, amount, releaseAt });
  }
  return outcome;
}

function decideReceivedPixSuspend(draft: BatchDraft, command: ReceivedPixSuspend): Outcome {
  const { endToEndId, chargeId, amount, reason } = command;
  const booking = { template: TEMPLATES.receivedPixSuspend, resourceId: chargeId };
  return suspend(draft, command, {
    booking,
    item: { endToEndId, chargeId, payoutId: null, amount, reason },
  });
}

/** Publishes no event: nobody waits for its outcome. */
function decidePendingRelease(draft: BatchDraft, command: PendingRelease): Outcome {
  const money = { amount: command.amount, fee: 0n };
  const outcome = draft.book(command, {
    template: TEMPLATES.pendingRelease,
    money,
    resourceId: null,
  });
  if (outcome.kind === 'decided') draft.writes.releasesDone.push(command.creditId);
  return outcome;
}

function decidePayoutSuspend(draft: BatchDraft, command: PayoutSuspend): Outcome {
  const { endToEndId, payoutId, reason, direction } = command;
  const amount = direction === 'in' ? command.amount : 0n - command.amount;
  const template = direction === 'in' ? TEMPLATES.payoutSuspendIn : TEMPLATES.payoutSuspendOut;
  return suspend(draft, command, {
    booking: { template, resourceId: payoutId },
    item: { endToEndId, chargeId: null, payoutId, amount, reason },
  });
}

/** None of these can fall below a floor: they take from what mirrors the acquirer, or from suspense. */
function move(
  draft: BatchDraft,
  command: Exclude<Movement, PendingRelease>,
  booking: Move,
): Outcome {
  const money = { amount: command.amount, fee: 0n };
  const outcome = draft.book(command, { ...booking, money });
  if (outcome.kind === 'decided') draft.announce(command, 'booked', { moved: command.amount });
  return outcome;
}

type NamedByCommand = 'commandId' | 'accountId' | 'createdAtMs' | 'resolvedAtMs';

function suspend(
  draft: BatchDraft,
  command: ReceivedPixSuspend | PayoutSuspend,
  details: { booking: Move; item: Omit<SuspenseWrite, NamedByCommand> },
): Outcome {
  const { commandId, accountId } = command;
  const createdAtMs = draft.timeFor(accountId);
  const outcome = move(draft, command, details.booking);
  if (outcome.kind === 'decided') {
    const stands = { commandId, accountId, createdAtMs, resolvedAtMs: null };
    draft.writes.suspenseItems.push({ ...stands, ...details.item });
  }
  return outcome;
}
