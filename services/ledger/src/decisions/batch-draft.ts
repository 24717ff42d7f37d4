import assert from 'node:assert';

import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { AccountId } from '@pixmesh/kernel/ids';

import type { AccountState } from '#accounts/chart-of-accounts.ts';
import { fingerprintOf } from '#commands/fingerprint.ts';
import type { ReceivedPixCredit, LedgerCommand } from '#commands/ledger-command.ts';
import type { DecidedCommand, Hold, Outcome, OutcomeCode } from '#commands/outcome.ts';

import {
  type BatchState,
  type BatchWrites,
  type ItemChange,
  pixKey,
  type SuspenseItem,
} from './batch-state.ts';
import { accountAfter, isAboveFloors } from './move-account.ts';
import { type PixDebits, untouchedPix } from './pix-debits.ts';
import { type Money, postingsOf, type Template } from './templates.ts';

/** What a journal is beside its command: how much moves, and what else is stored with it. */
export type Booking = {
  template: Template;
  money: Money;
  resourceId: string | null;
  /** The hold as the journal leaves it. */
  hold?: Hold;
  /** Its Pix as the journal leaves it. */
  pix?: PixDebits;
};

/**
 * One batch while it is decided: what stood before it, and on top of that what its commands have changed so far, so
 * that each command meets the changes of those before it.
 */
export class BatchDraft {
  readonly nowMs: number;
  readonly writes: BatchWrites = {
    journals: [],
    entries: [],
    accounts: new Map(),
    holds: new Map(),
    newHolds: new Set(),
    pix: new Map(),
    suspenseItems: [],
    itemsChanged: new Map(),
    releases: [],
    releasesDone: [],
    events: [],
  };
  readonly #state: BatchState;
  readonly #decided = new Map<string, DecidedCommand>();
  /** Credits of this batch, by command: what stood before it is read with its Pix. */
  readonly #credits = new Map<string, ReceivedPixCredit>();
  /** The hold that stands for a resource, or null where the last one has been released. */
  readonly #holdOfResource = new Map<string, string | null>();

  constructor(state: BatchState) {
    this.#state = state;
    this.nowMs = state.nowMs;
    for (const hold of state.holds.values()) this.#indexResource(hold);
  }

  account(accountId: AccountId): AccountState {
    const account = this.writes.accounts.get(accountId) ?? this.#state.accounts.get(accountId);
    assert(account, 'the owner of every command is locked');
    return account;
  }

  decidedBefore(commandId: string): DecidedCommand | null {
    return this.#decided.get(commandId) ?? this.#state.decided.get(commandId) ?? null;
  }

  hold(holdId: string): Hold | null {
    return this.writes.holds.get(holdId) ?? this.#state.holds.get(holdId) ?? null;
  }

  /** Null: no credit of this account is booked for it, so nothing can go back of it. */
  pix(accountId: AccountId, endToEndId: string): PixDebits | null {
    const key = pixKey({ accountId, endToEndId });
    const known = this.writes.pix.get(key) ?? this.#state.pix.get(key);
    if (known !== undefined || this.#credits.size === 0) return known ?? null;
    const credit = this.#credits.get(receivedPixCommandId(endToEndId));
    return credit?.accountId === accountId
      ? untouchedPix(accountId, endToEndId, credit.amount)
      : null;
  }

  credited(credit: ReceivedPixCredit): void {
    this.#credits.set(credit.commandId, credit);
  }

  suspenseItem(itemId: string): SuspenseItem | null {
    const fresh = this.writes.suspenseItems.find(({ commandId }) => commandId === itemId);
    if (fresh) return { ...fresh, isResolved: fresh.resolvedAtMs !== null };
    const item = this.#state.suspenseItems.get(itemId);
    if (!item) return null;
    const changed = this.writes.itemsChanged.get(itemId);
    if (!changed) return item;
    return { ...item, amount: changed.amount, isResolved: changed.resolvedAtMs !== null };
  }

  changeItem(itemId: string, change: ItemChange): void {
    const fresh = this.writes.suspenseItems.find(({ commandId }) => commandId === itemId);
    if (fresh) Object.assign(fresh, change);
    else this.writes.itemsChanged.set(itemId, change);
  }

  isHeld(resourceId: string): boolean {
    return typeof this.#holdOfResource.get(resourceId) === 'string';
  }

  /** Time of the owner's next journal: never before its last one, even when the clock has stepped back. */
  timeFor(accountId: AccountId): number {
    return Math.max(this.nowMs, this.account(accountId).movedAtMs);
  }

  /** Moves money; a command that takes more than there is moves nothing and is rejected. */
  book(command: LedgerCommand, booking: Booking): Outcome {
    const { accountId } = command;
    const before = this.account(accountId);
    const postings = postingsOf(booking.template, booking.money);
    const atMs = this.timeFor(accountId);
    const after = accountAfter(before, { postings, atMs, mayForce: booking.template.mayForce });
    if (!isAboveFloors(after)) {
      return { kind: 'rejected', reason: 'below_floor', message: tooMuch(command) };
    }
    this.writes.accounts.set(accountId, after);
    for (const { kind, amount } of postings) {
      const balanceAfter = after.balances[kind];
      this.writes.entries.push({ accountId, version: after.version, kind, amount, balanceAfter });
    }
    return this.#record(command, { code: 'booked', version: after.version, ...booking });
  }

  /** Records an outcome that moves nothing. */
  note(
    command: LedgerCommand,
    decided: {
      code: OutcomeCode;
      resourceId: string | null;
      hold: Hold | null;
      pix?: PixDebits;
    },
  ): Outcome {
    return this.#record(command, { ...decided, version: null });
  }

  /** Publishes the outcome of a command, with its owner's balance right after it. */
  announce(
    command: LedgerCommand,
    code: OutcomeCode,
    { hold = null, moved = 0n }: { hold?: Hold | null; moved?: bigint } = {},
  ): void {
    const { available, pending } = this.account(command.accountId).balances;
    this.writes.events.push({
      command,
      code,
      hold,
      moved,
      balances: { available, pending },
      occurredAtMs: this.timeFor(command.accountId),
    });
  }

  #record(
    command: LedgerCommand,
    decided: {
      code: OutcomeCode;
      version: bigint | null;
      resourceId: string | null;
      hold?: Hold | null;
      pix?: PixDebits;
    },
  ): Outcome {
    const { code, version, resourceId, hold = null, pix } = decided;
    const { accountId } = command;
    const kind = JOURNAL_KINDS[command.kind];
    const fingerprint = fingerprintOf(command);
    const createdAtMs = this.timeFor(accountId);
    this.writes.journals.push({ command, code, version, fingerprint, resourceId, createdAtMs });
    this.#decided.set(command.commandId, { accountId, kind, code, version, fingerprint });
    if (hold !== null && hold !== this.hold(hold.holdId)) {
      this.writes.holds.set(hold.holdId, hold);
      if (!this.#state.holds.has(hold.holdId)) this.writes.newHolds.add(hold.holdId);
      this.#indexResource(hold);
    }
    if (pix) this.writes.pix.set(pixKey(pix), pix);
    return { kind: 'decided', code, version, repeated: false, hold };
  }

  #indexResource(hold: Hold): void {
    const { resourceId, holdId, state } = hold;
    if (state === 'open' || state === 'settled') this.#holdOfResource.set(resourceId, holdId);
    else if (this.#holdOfResource.get(resourceId) === holdId) {
      this.#holdOfResource.set(resourceId, null);
    }
  }
}

function tooMuch(command: LedgerCommand): string {
  return `command ${command.commandId} takes more than stands where it takes from`;
}
