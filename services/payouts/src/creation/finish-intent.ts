import type { Deadline } from '@pixmesh/http/deadline';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { holdContradicted } from '#events.ts';
import { failpoint } from '#failpoints.ts';
import type { LedgerClient } from '#ledger/ledger-client.ts';
import type { PayoutRow, VisiblePayout } from '#payouts/payout-row.ts';
import { findPayout } from '#payouts/payouts.sql.ts';

import { commitIntent, deleteIntent } from './intents.sql.ts';

export type IntentDeps = {
  db: Database;
  ledger: LedgerClient;
  logger: Logger;
  /** Says that there are events to publish. */
  wakeOutbox(): void;
  /** Says that there is a payout to send. */
  wakeSender(): void;
};

/**
 * `moved`: the row is not the intent that was read any more, so it has to be read again. `unknown`: the ledger
 * gave no answer, and the intent stays as it is.
 */
export type FinishOutcome =
  | { kind: 'finished'; payout: VisiblePayout }
  | { kind: 'insufficient' }
  | { kind: 'moved' }
  | { kind: 'unknown'; cause: unknown };

/**
 * Takes the hold of an intent and makes it a payout; safe to repeat and to race, since everything happens under
 * the intent's own `hold_id`. A refused one is dropped, and its key is free (decisions 115, 117).
 */
export async function finishIntent(
  deps: IntentDeps,
  intent: PayoutRow,
  deadline: Deadline,
): Promise<FinishOutcome> {
  const hold = await deps.ledger.takeHold(intent, deadline);
  await failpoint('payouts.create.after-hold');
  switch (hold.kind) {
    case 'held':
      return await commitHeld(deps, intent, hold.state);
    case 'refused':
      if (hold.reason === 'resource_held') holdContradicted(deps.logger, intent, hold.reason);
      await deleteIntent(deps.db, intent);
      return { kind: hold.reason === 'insufficient_balance' ? 'insufficient' : 'moved' };
    case 'unknown':
      return hold;
    default:
      return assertNever(hold);
  }
}

export type SettleOutcome =
  | { kind: 'finished'; payout: VisiblePayout }
  | { kind: 'dropped' }
  | { kind: 'moved' }
  | { kind: 'unknown'; cause: unknown };

/**
 * Ends an intent that its own call left behind. No hold is taken for it: it is voided at the ledger, which also
 * defeats a hold still in flight, and then dropped; only where the hold stands already is the payout finished.
 * What the ledger does not answer stays, to be looked at again (ADR 0009).
 */
export async function settleIntent(
  deps: IntentDeps,
  intent: PayoutRow,
  deadline: Deadline,
): Promise<SettleOutcome> {
  const voided = await deps.ledger.voidHold(intent, deadline);
  switch (voided.kind) {
    case 'voided':
      return { kind: (await deleteIntent(deps.db, intent)) ? 'dropped' : 'moved' };
    case 'already_held':
      return await commitHeld(deps, intent, voided.state);
    case 'unknown':
      return voided;
    default:
      return assertNever(voided);
  }
}

/** Only money that is still reserved makes a payout; a hold that has ended belongs to one that was finished. */
async function commitHeld(
  deps: IntentDeps,
  intent: PayoutRow,
  state: string,
): Promise<{ kind: 'finished'; payout: VisiblePayout } | { kind: 'moved' }> {
  if (state !== 'open') {
    await reportEndedHold(deps, intent);
    return { kind: 'moved' };
  }
  const payout = await commitIntent(deps.db, intent);
  if (payout === null) return { kind: 'moved' };
  deps.wakeOutbox();
  if (payout.status === 'processing') deps.wakeSender();
  await failpoint('payouts.create.after-commit');
  return { kind: 'finished', payout };
}

/** The usual reason is that the payout was finished meanwhile and has ended; an intent left has none. */
async function reportEndedHold(deps: IntentDeps, intent: PayoutRow): Promise<void> {
  const row = await findPayout(deps.db, intent.accountId, intent.id);
  const isSame = row?.status === 'intent' && row.holdId === intent.holdId;
  if (isSame) holdContradicted(deps.logger, intent, 'ended');
}
