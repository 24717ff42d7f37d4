import type { HoldState } from '@pixmesh/contracts/internal/holds';
import type { JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import type { AccountId, HoldId } from '@pixmesh/kernel/ids';

import type { HoldKind } from './ledger-command.ts';

/**
 * What became of a command. `booked` moved money, `noted` had none to move; every other code is the reason why nothing
 * moved. Sticky for ever, refusals too.
 */
export type OutcomeCode =
  | 'booked'
  | 'noted'
  | 'insufficient_balance'
  | 'unknown_pix'
  | 'exceeds_received'
  | 'voided'
  | 'resource_held'
  | 'already_held'
  | 'already_settled'
  | 'already_released'
  | 'already_voided';

/** Why a command is wrong in itself. Nothing is stored of it, so that it may be sent again. */
type RejectionReason =
  /** Another command is booked under its id. */
  | 'other_content'
  /** Nobody has taken the hold that it settles. */
  | 'unknown_hold'
  /** The hold belongs to another account or resource. */
  | 'foreign_hold'
  /** No credit of this account is booked for the Pix. */
  | 'unknown_pix'
  /** More would have gone back of a Pix than it was. */
  | 'exceeds_received'
  /** No such item stands in this account's suspense. */
  | 'unknown_item'
  /** Another command has ended the item. */
  | 'item_resolved'
  /** It takes more than stands where it takes from. */
  | 'below_floor'
  /** The database refused to write it, or its event does not fit its schema. */
  | 'unwritable';

/** A hold as it stands after the command. */
export type Hold = {
  holdId: HoldId;
  accountId: AccountId;
  resourceId: string;
  /** Null for a hold that was voided or released before it came. */
  kind: HoldKind | null;
  amount: bigint;
  fee: bigint;
  state: HoldState;
  createdAt: Date;
  /** Of a refund's hold that was taken: its Pix, and how much came out of the block. */
  refund?: RefundPart;
};

export type RefundPart = { endToEndId: string; fromBlock: bigint };

export type Outcome =
  | {
      kind: 'decided';
      code: OutcomeCode;
      /** Number of the journal within its owner; null where nothing moved. */
      version: bigint | null;
      /** The command had been decided before; nothing was written and nothing is published now. */
      repeated: boolean;
      /** Of commands about a hold. */
      hold: Hold | null;
    }
  | { kind: 'rejected'; reason: RejectionReason; message: string };

/** Another transaction holds its owner's row for too long. Nothing is stored of the command; it has to come again. */
export type OwnerLocked = { kind: 'owner_locked'; accountId: AccountId };

/** What a batch answers one of its commands. */
export type BatchOutcome = Outcome | OwnerLocked;

/** A command that was decided before, as its row says. */
export type DecidedCommand = {
  accountId: AccountId;
  kind: JournalKind;
  code: OutcomeCode;
  version: bigint | null;
  fingerprint: string;
};
