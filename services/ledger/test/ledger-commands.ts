import {
  type AccountId,
  type ChargeId,
  deriveCommandId,
  type HoldId,
  newId,
} from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';

import type {
  BlockDisputed,
  BookAcquirerTariff,
  CreditPayoutReturn,
  CreditReceivedPix,
  CreditSuspense,
  ReleaseHold,
  ReleasePending,
  ResolveSuspense,
  ReturnDisputed,
  ReturnReceivedPix,
  SettleHold,
  SuspendPayout,
  SuspendReceivedPix,
  TakeHold,
  UnblockDisputed,
  VoidHold,
} from '#commands/ledger-command.ts';

import { anEndToEndId } from './ledger-messages.ts';

/** Commands as the engine takes them: valid and random, but for what a test names. Amounts are plain numbers. */
type Told<Command> = Partial<Omit<Command, 'kind' | 'commandId' | 'amount' | 'fee'>> & {
  amount?: number;
  fee?: number;
};

export function takeHold({ amount = 1_000, fee = 0, ...told }: Told<TakeHold> = {}): TakeHold {
  const holdId = told.holdId ?? newId<HoldId>();
  return {
    kind: 'take_hold',
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

type HoldRef = Pick<TakeHold, 'accountId' | 'holdId' | 'resourceId'>;

export function voidHold({ accountId, holdId, resourceId }: HoldRef): VoidHold {
  const commandId = deriveCommandId('hold_void', holdId);
  return { kind: 'void_hold', commandId, accountId, holdId, resourceId };
}

export function settleHold({ accountId, holdId, resourceId }: HoldRef): SettleHold {
  const commandId = deriveCommandId('hold_settle', holdId);
  return { kind: 'settle_hold', commandId, accountId, holdId, resourceId, endToEndId: null };
}

export function releaseHold({ accountId, holdId, resourceId }: HoldRef): ReleaseHold {
  const commandId = deriveCommandId('hold_release', holdId);
  return { kind: 'release_hold', commandId, accountId, holdId, resourceId };
}

export function credit(told: Told<CreditReceivedPix> = {}): CreditReceivedPix {
  return { ...receivedPix(told), kind: 'credit_received_pix', releaseAt: told.releaseAt ?? null };
}

export function suspense(told: Told<SuspendReceivedPix> = {}): SuspendReceivedPix {
  const reason = told.reason ?? 'amount_mismatch';
  return { ...receivedPix(told), kind: 'suspend_received_pix', reason };
}

export function releasePending(credited: CreditReceivedPix): ReleasePending {
  const { commandId: creditId, accountId, amount } = credited;
  const commandId = deriveCommandId('release_pending', creditId);
  return { kind: 'release_pending', commandId, accountId, creditId, amount };
}

export function payoutReturn({
  amount = 1_000,
  ...told
}: Told<CreditPayoutReturn> = {}): CreditPayoutReturn {
  const endToEndId = told.endToEndId ?? anEndToEndId();
  const returnId = told.returnId ?? newId();
  return {
    kind: 'credit_payout_return',
    commandId: deriveCommandId('payout_return', `${endToEndId}:${returnId}`),
    accountId: newId<AccountId>(),
    payoutId: newId(),
    ...told,
    endToEndId,
    returnId,
    amount: toCents(amount),
  };
}

export function payoutSuspense({
  amount = 1_000,
  ...told
}: Told<SuspendPayout> = {}): SuspendPayout {
  return {
    kind: 'suspend_payout',
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

export function tariff({
  amount = 10,
  ...told
}: Told<BookAcquirerTariff> = {}): BookAcquirerTariff {
  const endToEndId = told.endToEndId ?? anEndToEndId();
  return {
    kind: 'book_acquirer_tariff',
    commandId: deriveCommandId('acquirer_tariff', endToEndId),
    accountId: newId<AccountId>(),
    ...told,
    endToEndId,
    amount: toCents(amount),
  };
}

export function block(told: Told<BlockDisputed> = {}): BlockDisputed {
  return { ...disputed(told), kind: 'block_disputed', commandId: newId() };
}

export function unblock(told: Told<UnblockDisputed> = {}): UnblockDisputed {
  return { ...disputed(told), kind: 'unblock_disputed', commandId: newId() };
}

export function disputeReturn(told: Told<ReturnDisputed> = {}): ReturnDisputed {
  return {
    ...disputed(told),
    kind: 'return_disputed',
    commandId: newId(),
    from: told.from ?? 'blocked',
    returnId: told.returnId ?? newId(),
  };
}

export function pixReturn(told: Told<ReturnReceivedPix> = {}): ReturnReceivedPix {
  const returnId = told.returnId ?? newId();
  const { accountId, chargeId, endToEndId, amount } = disputed(told);
  const commandId = deriveCommandId('received_pix.return', `${endToEndId}/${returnId}`);
  const named = { kind: 'return_received_pix', commandId, accountId } as const;
  return { ...named, chargeId, endToEndId, returnId, amount };
}

/** Ends the item that a command has booked. */
export function resolve(
  item: SuspendReceivedPix,
  told: { action?: ResolveSuspense['action'] } & Partial<ResolveSuspense> = {},
): ResolveSuspense {
  const { accountId, endToEndId, chargeId, amount, commandId: itemId } = item;
  return {
    kind: 'resolve_suspense',
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
export function creditSuspense(item: SuspendReceivedPix, accountId: AccountId): CreditSuspense {
  const { endToEndId, chargeId, amount, commandId: itemId } = item;
  const commandId = deriveCommandId('suspense.credit', itemId);
  const about = { itemId, endToEndId, chargeId, payoutId: null, amount };
  return { kind: 'credit_suspense', commandId, accountId, ...about };
}

function receivedPix(told: Told<CreditReceivedPix | SuspendReceivedPix>) {
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
  told: Told<BlockDisputed | UnblockDisputed | ReturnDisputed> | Told<ReturnReceivedPix>,
) {
  return {
    accountId: told.accountId ?? newId<AccountId>(),
    disputeId: ('disputeId' in told ? told.disputeId : undefined) ?? newId(),
    chargeId: told.chargeId ?? newId<ChargeId>(),
    endToEndId: told.endToEndId ?? anEndToEndId(),
    amount: toCents(told.amount ?? 1_000),
  };
}
