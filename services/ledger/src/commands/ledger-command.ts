import type {
  ResolveSuspense as ResolveSuspenseMessage,
  SuspendPayout as SuspendPayoutMessage,
  SuspendReceivedPix as SuspendReceivedPixMessage,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import type { AccountId, ApplicationId, ChargeId, HoldId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import type { TraceParent } from '@pixmesh/telemetry/tracing';
import type { z } from 'zod';

/** What every command names. Ids are in lower case: they are compared as text. */
type Named<Kind extends string> = {
  kind: Kind;
  /** Unique for ever: the same id means the same command, and is answered the same outcome. */
  commandId: string;
  /** Whose money moves. A command names the same owner for ever. */
  accountId: AccountId;
  /** Handed on to the outcome's event; changes nothing in the books. */
  applicationId?: ApplicationId | null;
  /** The trace that the outcome's event continues. */
  traceparent?: TraceParent;
};

export type HoldKind = 'payout' | 'refund';

/** Taken once per hold: its command id is the hold's id. */
export type TakeHold = Named<'take_hold'> & {
  holdId: HoldId;
  resourceId: string;
  holdKind: HoldKind;
  amount: Cents;
  /** Of a payout; a refund has none. */
  fee: Cents;
  /** The received Pix that a refund gives back, which bounds it; null for a payout. */
  endToEndId: string | null;
};

type HoldEnd<Kind extends string> = Named<Kind> & { holdId: HoldId; resourceId: string };
export type VoidHold = HoldEnd<'void_hold'>;
export type SettleHold = HoldEnd<'settle_hold'> & { endToEndId: string | null };
export type ReleaseHold = HoldEnd<'release_hold'>;

type ReceivedPix<Kind extends string> = Named<Kind> & {
  endToEndId: string;
  chargeId: ChargeId | null;
  amount: Cents;
};
export type CreditReceivedPix = ReceivedPix<'credit_received_pix'> & { releaseAt: Date | null };
export type SuspendReceivedPix = ReceivedPix<'suspend_received_pix'> & {
  reason: z.output<typeof SuspendReceivedPixMessage.schema>['data']['reason'];
};

/** Money of a credited Pix that went back without an order of ours. */
export type ReturnReceivedPix = Named<'return_received_pix'> & {
  endToEndId: string;
  chargeId: ChargeId;
  returnId: string;
  amount: Cents;
};

type SuspenseItem<Kind extends string> = Named<Kind> & {
  /** The command that booked the item. */
  itemId: string;
  /** Null for a payout's that was never told one. */
  endToEndId: string | null;
  /** What it is about: one of the two, or neither. */
  chargeId: ChargeId | null;
  payoutId: string | null;
  amount: Cents;
};
export type ResolveSuspense = SuspenseItem<'resolve_suspense'> & {
  action: z.output<typeof ResolveSuspenseMessage.schema>['data']['action'];
};
export type CreditSuspense = SuspenseItem<'credit_suspense'>;

/** Makes a pending credit available: told by the ledger's own job only, once per credit. */
export type ReleasePending = Named<'release_pending'> & { creditId: string; amount: Cents };

export type CreditPayoutReturn = Named<'credit_payout_return'> & {
  payoutId: string;
  endToEndId: string;
  returnId: string;
  amount: Cents;
};

export type SuspendPayout = Named<'suspend_payout'> & {
  payoutId: string | null;
  endToEndId: string | null;
  direction: 'in' | 'out';
  amount: Cents;
  reason: z.output<typeof SuspendPayoutMessage.schema>['data']['reason'];
};

export type BookAcquirerTariff = Named<'book_acquirer_tariff'> & {
  endToEndId: string;
  amount: Cents;
};

type Disputed<Kind extends string> = Named<Kind> & {
  disputeId: string;
  chargeId: ChargeId;
  endToEndId: string;
  amount: Cents;
};
export type BlockDisputed = Disputed<'block_disputed'>;
export type UnblockDisputed = Disputed<'unblock_disputed'>;
export type ReturnDisputed = Disputed<'return_disputed'> & {
  from: 'blocked' | 'available';
  returnId: string;
};

/** Every change of money: there is no other door than the engine that takes these. */
export type LedgerCommand =
  | TakeHold
  | VoidHold
  | SettleHold
  | ReleaseHold
  | CreditReceivedPix
  | SuspendReceivedPix
  | ReleasePending
  | CreditPayoutReturn
  | SuspendPayout
  | BookAcquirerTariff
  | BlockDisputed
  | UnblockDisputed
  | ReturnDisputed
  | ReturnReceivedPix
  | ResolveSuspense
  | CreditSuspense;

export type CommandKind = LedgerCommand['kind'];

export type HoldCommand = TakeHold | VoidHold | SettleHold | ReleaseHold;

export function isHoldCommand(command: LedgerCommand): command is HoldCommand {
  return 'holdId' in command;
}
