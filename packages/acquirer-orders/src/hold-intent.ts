import type { Deadline } from '@pixmesh/http/deadline';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { HoldOrder, HoldRefusal, LedgerHolds } from '@pixmesh/ledger-client/ledger-holds';

/** What shows that a hold and its intent have parted; reported, and never repaired here. */
export type HoldProblem =
  /** Another hold of the resource is open or settled. */
  | 'resource_held'
  /** The ledger does not know the Pix of a refund. */
  | 'unknown_pix'
  /** The hold of an intent has ended before the intent was committed. */
  | 'ended'
  /** A hold stands without an intent. */
  | 'orphaned';

/**
 * The intents of one table: rows that are stored before their money is held, and that nobody sees. `Made` is what an
 * intent becomes.
 */
export type HoldIntents<Row extends { holdId: string }, Made extends Row> = {
  holds: LedgerHolds;
  holdOf(intent: Row): HoldOrder;
  /** What stands under the id of the intent now. */
  find(intent: Row): Promise<Row | null>;
  isMade(row: Row): row is Made;
  /** One statement, `where hold_id = … and status = 'intent'`. Null where the row is no such intent any more. */
  commit(intent: Row): Promise<Made | null>;
  /** One statement with the same condition. False where another process has dropped it. */
  drop(intent: Row): Promise<boolean>;
  /** Wakes the jobs that work on what was made. */
  committed(made: Made): void;
  report(intent: Row, problem: HoldProblem): void;
  /** Where a test can make the process die, hang or fail. */
  failpoint(name: 'after-hold' | 'after-commit'): Promise<void>;
};

/**
 * `moved`: the row is not the intent that was read any more, so it has to be read again. `unknown`: the ledger gave no
 * answer, and the intent stays as it is.
 */
type Committed<Made> = { kind: 'finished'; made: Made } | { kind: 'moved' };
type Unknown = { kind: 'unknown'; cause: unknown };

/** What a caller may be told; the other refusals say that another process has ended the intent. */
export type CallersRefusal = Exclude<HoldRefusal, 'voided' | 'resource_held'>;

export type TakeIntentOutcome<Made> =
  | Committed<Made>
  | { kind: 'refused'; reason: CallersRefusal }
  | Unknown;

/**
 * Takes the hold of an intent and commits it; safe to repeat and to race, since everything happens under the intent's
 * own `hold_id`. A refused intent is dropped, and its key is free (decisions 115, 117).
 */
export async function takeIntentHold<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  intent: Row,
  deadline: Deadline,
): Promise<TakeIntentOutcome<Made>> {
  const hold = await intents.holds.take(intents.holdOf(intent), deadline);
  await intents.failpoint('after-hold');
  switch (hold.kind) {
    case 'held':
      return await commitHeld(intents, intent, hold.state);
    case 'refused':
      return await dropRefused(intents, intent, hold.reason);
    case 'unknown':
      return hold;
    default:
      return assertNever(hold);
  }
}

async function dropRefused<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  intent: Row,
  reason: HoldRefusal,
): Promise<TakeIntentOutcome<Made>> {
  if (reason === 'resource_held' || reason === 'unknown_pix') intents.report(intent, reason);
  await intents.drop(intent);
  // Voided by the job meanwhile, or contradicted: whatever stands under the id now is read again.
  if (reason === 'voided' || reason === 'resource_held') return { kind: 'moved' };
  return { kind: 'refused', reason };
}

export type SettleIntentOutcome<Made> = Committed<Made> | { kind: 'dropped' } | Unknown;

/**
 * Ends an intent that its own call left behind. No hold is taken for it: the hold is voided at the ledger, which also
 * defeats one that is still in flight, and the intent dropped; only where the hold stands already is it committed. What
 * the ledger does not answer stays for a later check (decision 134).
 */
export async function settleIntent<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  intent: Row,
  deadline: Deadline,
): Promise<SettleIntentOutcome<Made>> {
  const voided = await intents.holds.void(intents.holdOf(intent), deadline);
  switch (voided.kind) {
    case 'voided':
      return { kind: (await intents.drop(intent)) ? 'dropped' : 'moved' };
    case 'already_held':
      return await commitHeld(intents, intent, voided.state);
    case 'unknown':
      return voided;
    default:
      return assertNever(voided);
  }
}

/** Only money that is still reserved commits an intent; a hold that has ended belongs to one that was finished. */
async function commitHeld<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  intent: Row,
  state: string,
): Promise<Committed<Made>> {
  if (state !== 'open') {
    await reportEndedHold(intents, intent);
    return { kind: 'moved' };
  }
  const made = await intents.commit(intent);
  if (made === null) return { kind: 'moved' };
  intents.committed(made);
  await intents.failpoint('after-commit');
  return { kind: 'finished', made };
}

/** The usual reason is that the intent was finished meanwhile and its resource has ended; an intent left has none. */
async function reportEndedHold<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  intent: Row,
): Promise<void> {
  const row = await intents.find(intent);
  const isSame = row !== null && !intents.isMade(row) && row.holdId === intent.holdId;
  if (isSame) intents.report(intent, 'ended');
}
