import type { AccountSettings } from '@pixmesh/contracts/internal/service-token';
import type { Deadline } from '@pixmesh/http/deadline';
import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import type { AccountId, ApplicationId, OperatorId, PayoutId } from '@pixmesh/kernel/ids';
import { type HoldId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sealSecret } from '@pixmesh/kernel/sealed-secret';

import { holdContradicted } from '#events.ts';
import { failpoint } from '#failpoints.ts';
import { isVisible, type PayoutRow, type VisiblePayout } from '#payouts/payout-row.ts';
import { findPayout } from '#payouts/payouts.sql.ts';

import { checkPayoutBody, type PayoutOrder } from './check-payout-body.ts';
import { fingerprintOf } from './fingerprint.ts';
import { finishIntent, type IntentDeps, settleIntent } from './finish-intent.ts';
import { insertIntent, type NewIntent } from './intents.sql.ts';
import { arePayoutsEnabled } from './payouts-enabled.ts';

/**
 * How often one call begins anew because somebody else moved its row meanwhile. Each time needs another process
 * that drops the same intent within the same request.
 */
const TRIES_MAX = 5;

export type CreatePayoutDeps = IntentDeps & {
  sealingPublicKey: string;
  /** When an intent that its call leaves behind is looked at first: longer than a request may take. */
  intentChecks: { firstMs: number };
};

export type CreatePayoutInput = {
  id: PayoutId;
  accountId: AccountId;
  /** Who asks: an application by its key, or an operator in the dashboard. */
  requester:
    | { source: 'api'; applicationId: ApplicationId }
    | { source: 'dashboard'; operatorId: OperatorId };
  settings: AccountSettings;
  /** Reads the request's object. @throws AppError `VALIDATION_ERROR` when it is none */
  readBody(): Record<string, unknown>;
  deadline: Deadline;
};

export type CreatedPayout = { payout: VisiblePayout; replayed: boolean; mismatch: boolean };

/**
 * Creates a payout under the id that its `Idempotency-Key` derives, or returns the one that has it.
 *
 * Safe to repeat from any process for ever: the primary key is the lock, and the money is reserved under the
 * `hold_id` of the row. The intent is stored before the ledger is called; no transaction is open meanwhile. An
 * intent that an earlier call left behind is finished under its own hold. A body that fails its rules stores
 * nothing, but a key that already has a payout is answered with it whatever the body says (decisions 12, 52, 253).
 *
 * @throws AppError of the body's rules; `PAYOUTS_DISABLED`; `INSUFFICIENT_BALANCE`; `INTERNAL_ERROR` while the
 *   ledger does not answer
 */
export async function createPayout(
  deps: CreatePayoutDeps,
  input: CreatePayoutInput,
): Promise<CreatedPayout> {
  const judged = judge(input);
  let own: HoldId | null = null;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const stored = await insertOrFind(deps, input, judged);
    if (stored === null) continue;
    if (stored.isNew) own = stored.row.holdId;
    // The refusal of another call's hold says nothing of this body and of the funds by now: one fresh try.
    const mayBeginAnew = !stored.isNew && tries === 0;
    const payout = await bringToEnd(deps, {
      judged,
      row: stored.row,
      deadline: input.deadline,
      mayBeginAnew,
    });
    if (payout === null) continue;
    // The row's hold names its inserter, whoever finished it: exactly one answer is the first (ADR 0001).
    return { payout, replayed: payout.holdId !== own, mismatch: isMismatch(judged, payout) };
  }
  throw new AppError('INTERNAL_ERROR', { message: 'the intent of a payout would not rest' });
}

/** `invalid`: the body itself; `disabled`: only the account's switches stand against it. */
type Judged =
  | { kind: 'accepted'; order: PayoutOrder }
  | { kind: 'disabled'; order: PayoutOrder; error: AppError }
  | { kind: 'invalid'; order: null; error: unknown };

function judge(input: CreatePayoutInput): Judged {
  try {
    const order = checkPayoutBody(input.readBody());
    if (arePayoutsEnabled(input.settings)) return { kind: 'accepted', order };
    return { kind: 'disabled', order, error: new AppError('PAYOUTS_DISABLED') };
  } catch (error) {
    return { kind: 'invalid', order: null, error };
  }
}

/** The row of this call: its own new intent, or what stands under the id; null when that vanished in between. */
async function insertOrFind(
  deps: CreatePayoutDeps,
  input: CreatePayoutInput,
  judged: Judged,
): Promise<{ row: PayoutRow; isNew: boolean } | null> {
  if (judged.kind === 'accepted') {
    await failpoint('payouts.create.before-insert');
    const inserted = await insertIntent(deps.db, toNewIntent(deps, input, judged.order));
    if (inserted) {
      await failpoint('payouts.create.after-intent');
      return { row: inserted, isNew: true };
    }
  }
  const row = await findPayout(deps.db, input.accountId, input.id);
  if (row === null && judged.kind !== 'accepted') throw judged.error;
  return row === null ? null : { row, isNew: false };
}

/**
 * The payout of a row: an intent is finished first. A call of an account that may not pay out any more takes no
 * hold for it; it ends the intent as the job would, so that its refusal is final. Null: read the row again.
 */
async function bringToEnd(
  deps: CreatePayoutDeps,
  step: { judged: Judged; row: PayoutRow; deadline: Deadline; mayBeginAnew: boolean },
): Promise<VisiblePayout | null> {
  const { judged, row, deadline } = step;
  if (isVisible(row)) return row;
  const outcome =
    judged.kind === 'disabled'
      ? await settleIntent(deps, row, deadline)
      : await finishIntent(deps, row, deadline);
  switch (outcome.kind) {
    case 'finished':
      return outcome.payout;
    case 'insufficient':
      if (step.mayBeginAnew) return null;
      throw new AppError('INSUFFICIENT_BALANCE');
    case 'dropped':
      return null;
    case 'moved':
      return await rereadMoved(deps, row, deadline);
    case 'unknown':
      throw new AppError('INTERNAL_ERROR', {
        message: 'the ledger did not answer for a hold',
        cause: outcome.cause,
      });
    default:
      return assertNever(outcome);
  }
}

/**
 * What became of an intent that was moved meanwhile. If it is gone or stands under another hold, ours is voided:
 * no hold may be left behind without its payout.
 */
async function rereadMoved(
  deps: CreatePayoutDeps,
  intent: PayoutRow,
  deadline: Deadline,
): Promise<VisiblePayout | null> {
  const row = await findPayout(deps.db, intent.accountId, intent.id);
  if (row?.holdId === intent.holdId) return isVisible(row) ? row : null;
  const voided = await deps.ledger.voidHold(intent, deadline);
  if (voided.kind === 'already_held') holdContradicted(deps.logger, intent, 'orphaned');
  return null;
}

/** Another body under the key, or one that could not be read: the answer says so (decisions 42, 44, 253). */
function isMismatch(judged: Judged, payout: PayoutRow): boolean {
  return judged.order === null || !fingerprintOf(judged.order).equals(payout.fingerprint);
}

function toNewIntent(
  deps: CreatePayoutDeps,
  input: CreatePayoutInput,
  order: PayoutOrder,
): NewIntent {
  const { id, accountId, requester, settings } = input;
  const { webhookSecret, ...stored } = order;
  const isApi = requester.source === 'api';
  return {
    ...stored,
    id,
    accountId,
    applicationId: isApi ? requester.applicationId : null,
    source: requester.source,
    requestedBy: isApi ? null : requester.operatorId,
    // Copied for life: later changes of the settings do not reach it (decisions 112, 125).
    fee: toCents(settings.payout_fee),
    // What an operator requests waits for a second one (decision 123).
    isAutomatic: isApi && settings.auto_payout_enabled,
    webhookSealedSecret:
      webhookSecret === null
        ? null
        : sealSecret(deps.sealingPublicKey, webhookSecret, `${accountId}/${id}`),
    fingerprint: fingerprintOf(order),
    holdId: newId(),
    firstCheckMs: deps.intentChecks.firstMs,
  };
}
