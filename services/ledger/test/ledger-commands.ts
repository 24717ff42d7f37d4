import {
  acquirerTariffCommandId,
  holdReleaseCommandId,
  holdSettleCommandId,
  receivedPixCommandId,
  releasePendingIdOf,
  suspenseResolveCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import {
  type AccountId,
  type ChargeId,
  deriveCommandId,
  type HoldId,
  newId,
} from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';

import type {
  DisputeBlock,
  AcquirerTariffBook,
  PayoutReturnCredit,
  ReceivedPixCredit,
  SuspenseCredit,
  HoldRelease,
  PendingRelease,
  SuspenseResolve,
  DisputeReturn,
  ReceivedPixReturn,
  HoldSettle,
  PayoutSuspend,
  ReceivedPixSuspend,
  HoldTake,
  DisputeUnblock,
  HoldVoid,
} from '#commands/ledger-command.ts';

import { anEndToEndId } from './ledger-messages.ts';

/** Commands as the engine takes them: valid and random, but for what a test names. Amounts are plain numbers. */
type Changes<Command> = Partial<Omit<Command, 'kind' | 'commandId' | 'amount' | 'fee'>> & {
  amount?: number;
  fee?: number;
};

export function holdTake({
  amount = 1_000,
  fee = 0,
  ...changes
}: Changes<HoldTake> = {}): HoldTake {
  const holdId = changes.holdId ?? newId<HoldId>();
  return {
    kind: 'hold.take',
    commandId: holdId,
    accountId: newId<AccountId>(),
    resourceId: newId(),
    holdKind: changes.endToEndId ? 'refund' : 'payout',
    endToEndId: null,
    ...changes,
    holdId,
    amount: toCents(amount),
    fee: toCents(fee),
  };
}

type HoldRef = Pick<HoldTake, 'accountId' | 'holdId' | 'resourceId'>;

export function holdVoid({ accountId, holdId, resourceId }: HoldRef): HoldVoid {
  const commandId = deriveCommandId('hold_void', holdId);
  return { kind: 'hold.void', commandId, accountId, holdId, resourceId };
}

export function holdSettle({ accountId, holdId, resourceId }: HoldRef): HoldSettle {
  const commandId = holdSettleCommandId({ holdId });
  return { kind: 'hold.settle', commandId, accountId, holdId, resourceId, endToEndId: null };
}

export function holdRelease({ accountId, holdId, resourceId }: HoldRef): HoldRelease {
  const commandId = holdReleaseCommandId({ holdId });
  return { kind: 'hold.release', commandId, accountId, holdId, resourceId };
}

export function receivedPixCredit(changes: Changes<ReceivedPixCredit> = {}): ReceivedPixCredit {
  return {
    ...receivedPix(changes),
    kind: 'received_pix.credit',
    releaseAt: changes.releaseAt ?? null,
  };
}

export function receivedPixSuspend(changes: Changes<ReceivedPixSuspend> = {}): ReceivedPixSuspend {
  const reason = changes.reason ?? 'amount_mismatch';
  return { ...receivedPix(changes), kind: 'received_pix.suspend', reason };
}

export function pendingRelease(credited: ReceivedPixCredit): PendingRelease {
  const { commandId: creditId, accountId, amount } = credited;
  const commandId = releasePendingIdOf(creditId);
  return { kind: 'pending.release', commandId, accountId, creditId, amount };
}

export function payoutReturnCredit({
  amount = 1_000,
  ...changes
}: Changes<PayoutReturnCredit> = {}): PayoutReturnCredit {
  const endToEndId = changes.endToEndId ?? anEndToEndId();
  const returnId = changes.returnId ?? newId();
  return {
    kind: 'payout_return.credit',
    commandId: deriveCommandId('payout_return', `${endToEndId}:${returnId}`),
    accountId: newId<AccountId>(),
    payoutId: newId(),
    ...changes,
    endToEndId,
    returnId,
    amount: toCents(amount),
  };
}

export function payoutSuspend({
  amount = 1_000,
  ...changes
}: Changes<PayoutSuspend> = {}): PayoutSuspend {
  return {
    kind: 'payout.suspend',
    commandId: newId(),
    accountId: newId<AccountId>(),
    payoutId: newId(),
    endToEndId: anEndToEndId(),
    direction: 'out',
    reason: 'completed_after_failed',
    ...changes,
    amount: toCents(amount),
  };
}

export function acquirerTariffBook({
  amount = 10,
  ...changes
}: Changes<AcquirerTariffBook> = {}): AcquirerTariffBook {
  const endToEndId = changes.endToEndId ?? anEndToEndId();
  return {
    kind: 'acquirer_tariff.book',
    commandId: acquirerTariffCommandId(endToEndId),
    accountId: newId<AccountId>(),
    ...changes,
    endToEndId,
    amount: toCents(amount),
  };
}

export function disputeBlock(changes: Changes<DisputeBlock> = {}): DisputeBlock {
  return { ...disputed(changes), kind: 'dispute.block', commandId: newId() };
}

export function disputeUnblock(changes: Changes<DisputeUnblock> = {}): DisputeUnblock {
  return { ...disputed(changes), kind: 'dispute.unblock', commandId: newId() };
}

export function disputeReturn(changes: Changes<DisputeReturn> = {}): DisputeReturn {
  return {
    ...disputed(changes),
    kind: 'dispute.return',
    commandId: newId(),
    from: changes.from ?? 'blocked',
    returnId: changes.returnId ?? newId(),
  };
}

export function receivedPixReturn(changes: Changes<ReceivedPixReturn> = {}): ReceivedPixReturn {
  const returnId = changes.returnId ?? newId();
  const { accountId, chargeId, endToEndId, amount } = disputed(changes);
  const commandId = deriveCommandId('received_pix.return', `${endToEndId}/${returnId}`);
  const named = { kind: 'received_pix.return', commandId, accountId } as const;
  return { ...named, chargeId, endToEndId, returnId, amount };
}

/** Ends the item that a command has booked. */
export function suspenseResolve(
  item: ReceivedPixSuspend,
  changes: { action?: SuspenseResolve['action'] } & Partial<SuspenseResolve> = {},
): SuspenseResolve {
  const { accountId, endToEndId, chargeId, amount, commandId: itemId } = item;
  return {
    kind: 'suspense.resolve',
    commandId: suspenseResolveCommandId(itemId),
    accountId,
    itemId,
    endToEndId,
    chargeId,
    payoutId: null,
    amount,
    action: 'accept',
    ...changes,
  };
}

/** Gives what was handed over to its owner. */
export function suspenseCredit(item: ReceivedPixSuspend, accountId: AccountId): SuspenseCredit {
  const { endToEndId, chargeId, amount, commandId: itemId } = item;
  const commandId = deriveCommandId('suspense.credit', itemId);
  const about = { itemId, endToEndId, chargeId, payoutId: null, amount };
  return { kind: 'suspense.credit', commandId, accountId, ...about };
}

function receivedPix(changes: Changes<ReceivedPixCredit | ReceivedPixSuspend>) {
  const endToEndId = changes.endToEndId ?? anEndToEndId();
  return {
    commandId: receivedPixCommandId(endToEndId),
    accountId: changes.accountId ?? newId<AccountId>(),
    applicationId: changes.applicationId ?? null,
    endToEndId,
    chargeId: changes.chargeId === undefined ? newId<ChargeId>() : changes.chargeId,
    amount: toCents(changes.amount ?? 1_000),
  };
}

function disputed(
  changes: Changes<DisputeBlock | DisputeUnblock | DisputeReturn> | Changes<ReceivedPixReturn>,
) {
  return {
    accountId: changes.accountId ?? newId<AccountId>(),
    disputeId: ('disputeId' in changes ? changes.disputeId : undefined) ?? newId(),
    chargeId: changes.chargeId ?? newId<ChargeId>(),
    endToEndId: changes.endToEndId ?? anEndToEndId(),
    amount: toCents(changes.amount ?? 1_000),
  };
}
