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
type Told<Command> = Partial<Omit<Command, 'kind' | 'commandId' | 'amount' | 'fee'>> & {
  amount?: number;
  fee?: number;
};

export function holdTake({ amount = 1_000, fee = 0, ...told }: Told<HoldTake> = {}): HoldTake {
  const holdId = told.holdId ?? newId<HoldId>();
  return {
    kind: 'hold.take',
    commandId: holdId,
    accountId: newId<AccountId>(),
    resourceId: newId(),
    holdKind: told.endToEndId ? 'refund' : 'payout',
    endToEndId: null,
    ...told,
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
  const commandId = deriveCommandId('hold_settle', holdId);
  return { kind: 'hold.settle', commandId, accountId, holdId, resourceId, endToEndId: null };
}

export function holdRelease({ accountId, holdId, resourceId }: HoldRef): HoldRelease {
  const commandId = deriveCommandId('hold_release', holdId);
  return { kind: 'hold.release', commandId, accountId, holdId, resourceId };
}

export function receivedPixCredit(told: Told<ReceivedPixCredit> = {}): ReceivedPixCredit {
  return { ...receivedPix(told), kind: 'received_pix.credit', releaseAt: told.releaseAt ?? null };
}

export function receivedPixSuspend(told: Told<ReceivedPixSuspend> = {}): ReceivedPixSuspend {
  const reason = told.reason ?? 'amount_mismatch';
  return { ...receivedPix(told), kind: 'received_pix.suspend', reason };
}

export function pendingRelease(credited: ReceivedPixCredit): PendingRelease {
  const { commandId: creditId, accountId, amount } = credited;
  const commandId = deriveCommandId('release_pending', creditId);
  return { kind: 'pending.release', commandId, accountId, creditId, amount };
}

export function payoutReturnCredit({
  amount = 1_000,
  ...told
}: Told<PayoutReturnCredit> = {}): PayoutReturnCredit {
  const endToEndId = told.endToEndId ?? anEndToEndId();
  const returnId = told.returnId ?? newId();
  return {
    kind: 'payout_return.credit',
    commandId: deriveCommandId('payout_return', `${endToEndId}:${returnId}`),
    accountId: newId<AccountId>(),
    payoutId: newId(),
    ...told,
    endToEndId,
    returnId,
    amount: toCents(amount),
  };
}

export function payoutSuspend({
  amount = 1_000,
  ...told
}: Told<PayoutSuspend> = {}): PayoutSuspend {
  return {
    kind: 'payout.suspend',
    commandId: newId(),
    accountId: newId<AccountId>(),
    payoutId: newId(),
    endToEndId: anEndToEndId(),
    direction: 'out',
    reason: 'completed_after_failed',
    ...told,
    amount: toCents(amount),
  };
}

export function acquirerTariffBook({
  amount = 10,
  ...told
}: Told<AcquirerTariffBook> = {}): AcquirerTariffBook {
  const endToEndId = told.endToEndId ?? anEndToEndId();
  return {
    kind: 'acquirer_tariff.book',
    commandId: deriveCommandId('acquirer_tariff', endToEndId),
    accountId: newId<AccountId>(),
    ...told,
    endToEndId,
    amount: toCents(amount),
  };
}

export function disputeBlock(told: Told<DisputeBlock> = {}): DisputeBlock {
  return { ...disputed(told), kind: 'dispute.block', commandId: newId() };
}

export function disputeUnblock(told: Told<DisputeUnblock> = {}): DisputeUnblock {
  return { ...disputed(told), kind: 'dispute.unblock', commandId: newId() };
}

export function disputeReturn(told: Told<DisputeReturn> = {}): DisputeReturn {
  return {
    ...disputed(told),
    kind: 'dispute.return',
    commandId: newId(),
    from: told.from ?? 'blocked',
    returnId: told.returnId ?? newId(),
  };
}

export function receivedPixReturn(told: Told<ReceivedPixReturn> = {}): ReceivedPixReturn {
  const returnId = told.returnId ?? newId();
  const { accountId, chargeId, endToEndId, amount } = disputed(told);
  const commandId = deriveCommandId('received_pix.return', `${endToEndId}/${returnId}`);
  const named = { kind: 'received_pix.return', commandId, accountId } as const;
  return { ...named, chargeId, endToEndId, returnId, amount };
}

/** Ends the item that a command has booked. */
export function suspenseResolve(
  item: ReceivedPixSuspend,
  told: { action?: SuspenseResolve['action'] } & Partial<SuspenseResolve> = {},
): SuspenseResolve {
  const { accountId, endToEndId, chargeId, amount, commandId: itemId } = item;
  return {
    kind: 'suspense.resolve',
    commandId: deriveCommandId('suspense.resolve', itemId),
    accountId,
    itemId,
    endToEndId,
    chargeId,
    payoutId: null,
    amount,
    action: 'accept',
    ...told,
  };
}

/** Gives what was handed over to its owner. */
export function suspenseCredit(item: ReceivedPixSuspend, accountId: AccountId): SuspenseCredit {
  const { endToEndId, chargeId, amount, commandId: itemId } = item;
  const commandId = deriveCommandId('suspense.credit', itemId);
  const about = { itemId, endToEndId, chargeId, payoutId: null, amount };
  return { kind: 'suspense.credit', commandId, accountId, ...about };
}

function receivedPix(told: Told<ReceivedPixCredit | ReceivedPixSuspend>) {
  const endToEndId = told.endToEndId ?? anEndToEndId();
  return {
    commandId: deriveCommandId('received_pix', endToEndId),
    accountId: told.accountId ?? newId<AccountId>(),
    applicationId: told.applicationId ?? null,
    endToEndId,
    chargeId: told.chargeId === undefined ? newId<ChargeId>() : told.chargeId,
    amount: toCents(told.amount ?? 1_000),
  };
}

function disputed(
  told: Told<DisputeBlock | DisputeUnblock | DisputeReturn> | Told<ReceivedPixReturn>,
) {
  return {
    accountId: told.accountId ?? newId<AccountId>(),
    disputeId: ('disputeId' in told ? told.disputeId : undefined) ?? newId(),
    chargeId: told.chargeId ?? newId<ChargeId>(),
    endToEndId: told.endToEndId ?? anEndToEndId(),
    amount: toCents(told.amount ?? 1_000),
  };
}
