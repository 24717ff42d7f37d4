import type { Deadline } from '@pixmesh/http/deadline';
import type { HoldRefusal, LedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { assertNever } from '@pixmesh/kernel/app-error';
import { toCents } from '@pixmesh/kernel/money';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { failpoint } from '#failpoints.ts';

import { commitIntent, deleteIntent } from './intents.sql.ts';
import type { RefundRow, VisibleRefund } from './refund-row.ts';
import { holdContradicted } from './refund-signals.ts';
import { findRefund } from './refunds.sql.ts';

/** A refund costs nothing. */
const NO_FEE = toCents(0n);

export type IntentDeps = {
  db: Database;
  holds: LedgerHolds;
  logger: Logger;
  /** Says that there is a refund to send. */
  wakeRefunds(): void;
};

/**
 * `moved`: the row is not the intent that was read any more, so it has to be read again. `unknown`: the ledger gave no
 * answer, and the intent stays as it is.
 */
export type FinishOutcome =
  | { kind: 'finished'; refund: VisibleRefund }
  | { kind: 'refused'; reason: 'insufficient_balance' | 'exceeds_received' | 'unknown_pix' }
  | { kind: 'moved' }
  | { kind: 'unknown'; cause: unknown };

/**
 * Takes the hold of an intent and makes it a refund; safe to repeat and to race, since everything happens under the
 * intent's own `hold_id`. A refused one is dropped, and its key is free (decision 115).
 */
export async function finishIntent(
  deps: IntentDeps,
  intent: RefundRow,
  deadline: Deadline,
): Promise<FinishOutcome> {
  const { amount, endToEndId } = intent;
  const order = { ...holdOf(intent), kind: 'refund', amount, fee: NO_FEE, endToEndId } as const;
  const hold = await deps.holds.take(order, deadline);
  await failpoint('charges.refund.after-hold');
  switch (hold.kind) {
    case 'held':
      return await commitHeld(deps, intent, hold.state);
    case 'refused':
      return await dropRefused(deps, intent, hold.reason);
    case 'unknown':
      return hold;
    default:
      return assertNever(hold);
  }
}

async function dropRefused(
  deps: IntentDeps,
  intent: RefundRow,
  reason: HoldRefusal,
): Promise<FinishOutcome> {
  if (reason === 'resource_held' || reason === 'unknown_pix') {
    holdContradicted(deps.logger, intent, reason);
  }
  await deleteIntent(deps.db, intent);
  // Voided by the job meanwhile, or contradicted: whatever stands under the id now is read again.
  if (reason === 'voided' || reason === 'resource_held') return { kind: 'moved' };
  return { kind: 'refused', reason };
}

export type SettleOutcome =
  | { kind: 'finished'; refund: VisibleRefund }
  | { kind: 'dropped' }
  | { kind: 'moved' }
  | { kind: 'unknown'; cause: unknown };

/**
 * Ends an intent that its own call left behind. No hold is taken for it: it is voided at the ledger, which also defeats
 * a hold still in flight, and then dropped; only where the hold stands already is the refund finished. What the ledger
 * does not answer stays, to be looked at again (ADR 0009).
 */
export async function settleIntent(
  deps: IntentDeps,
  intent: RefundRow,
  deadline: Deadline,
): Promise<SettleOutcome> {
  const voided = await deps.holds.void(holdOf(intent), deadline);
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

/** How the ledger knows the money of a refund. */
export function holdOf({ holdId, accountId, id }: RefundRow) {
  return { holdId, accountId, resourceId: id };
}

/** Only money that is still reserved makes a refund; a hold that has ended belongs to one that was finished. */
async function commitHeld(
  deps: IntentDeps,
  intent: RefundRow,
  state: string,
): Promise<{ kind: 'finished'; refund: VisibleRefund } | { kind: 'moved' }> {
  if (state !== 'open') {
    await reportEndedHold(deps, intent);
    return { kind: 'moved' };
  }
  const refund = await commitIntent(deps.db, intent);
  if (refund === null) return { kind: 'moved' };
  deps.wakeRefunds();
  await failpoint('charges.refund.after-commit');
  return { kind: 'finished', refund };
}

/** The usual reason is that the refund was finished meanwhile and has ended; an intent left has none. */
async function reportEndedHold(deps: IntentDeps, intent: RefundRow): Promise<void> {
  const row = await findRefund(deps.db, intent.id);
  const isSame = row?.status === 'intent' && row.holdId === intent.holdId;
  if (isSame) holdContradicted(deps.logger, intent, 'ended');
}
