import type {
  SuspenseResolve as SuspenseResolveMessage,
  PayoutSuspend as PayoutSuspendMessage,
  ReceivedPixSuspend as ReceivedPixSuspendMessage,
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
export type HoldTake = Named<'hold.take'> & {
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
export type HoldVoid = HoldEnd<'hold.void'>;
export type HoldSettle = HoldEnd<'hold.settle'> & { endToEndId: string | null };
export type HoldRelease = HoldEnd<'hold.release'>;

type ReceivedPix<Kind extends string> = Named<Kind> & {
  endToEndId: string;
  chargeId: ChargeId | null;
  amount: Cents;
};
export type ReceivedPixCredit = ReceivedPix<'received_pix.credit'> & { releaseAt: Date | null };
export type ReceivedPixSuspend = ReceivedPix<'received_pix.suspend'> & {
  reason: z.output<typeof ReceivedPixSuspendMessage.schema>['data']['reason'];
};

/** Money of a credited Pix that went back without an order of ours. */
export type ReceivedPixReturn = Named<'received_pix.return'> & {
  endToEndId: string;
  chargeId: ChargeId;
  returnId: string;
  amount: Cents;
};

type SuspenseItem<Kind extends string> = Named<Kind> & {
  /** The command that booked the item. */
  itemId: string;
  /** Null for a payout that has none. */
  endToEndId: string | null;
  /** What it is about: one of the two, or neither. */
  chargeId: ChargeId | null;
  payoutId: string | null;
  amount: Cents;
};
export type SuspenseResolve = SuspenseItem<'suspense.resolve'> & {
  action: z.output<typeof SuspenseResolveMessage.schema>['data']['action'];
};
export type SuspenseCredit = SuspenseItem<'suspense.credit'>;

/** Makes a pending credit available: submitted by the ledger's own job only, once per credit. */
export type PendingRelease = Named<'pending.release'> & { creditId: string; amount: Cents };

export type PayoutReturnCredit = Named<'payout_return.credit'> & {
  payoutId: string;
  endToEndId: string;
  returnId: string;
  amount: Cents;
};

export type PayoutSuspend = Named<'payout.suspend'> & {
  payoutId: string | null;
  endToEndId: string | null;
  direction: 'in' | 'out';
  amount: Cents;
  reason: z.output<typeof PayoutSuspendMessage.schema>['data']['reason'];
};

export type AcquirerTariffBook = Named<'acquirer_tariff.book'> & {
  endToEndId: string;
  amount: Cents;
};

type Disputed<Kind extends string> = Named<Kind> & {
  disputeId: string;
  chargeId: ChargeId;
  endToEndId: string;
  amount: Cents;
};
export type DisputeBlock = Disputed<'dispute.block'>;
export type DisputeUnblock = Disputed<'dispute.unblock'>;
export type DisputeReturn = Disputed<'dispute.return'> & {
  from: 'blocked' | 'available';
  returnId: string;
};

/** Every change of money: the engine takes these and nothing else. */
export type LedgerCommand =
  | HoldTake
  | HoldVoid
  | HoldSettle
  | HoldRelease
  | ReceivedPixCredit
  | ReceivedPixSuspend
  | PendingRelease
  | PayoutReturnCredit
  | PayoutSuspend
  | AcquirerTariffBook
  | DisputeBlock
  | DisputeUnblock
  | DisputeReturn
  | ReceivedPixReturn
  | SuspenseResolve
  | SuspenseCredit;

export type HoldCommand = HoldTake | HoldVoid | HoldSettle | HoldRelease;

export function isHoldCommand(command: LedgerCommand): command is HoldCommand {
  return 'holdId' in command;
}
