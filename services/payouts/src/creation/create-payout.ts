import { createUnderHold } from '@pixmesh/acquirer-orders/create-under-hold';
import type { CallersRefusal } from '@pixmesh/acquirer-orders/hold-intent';
import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import type { Deadline } from '@pixmesh/http/deadline';
import { AppError, type ErrorCode } from '@pixmesh/kernel/app-error';
import {
  type AccountId,
  type ApplicationId,
  newId,
  type OperatorId,
  type PayoutId,
} from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sealSecret } from '@pixmesh/kernel/sealed-secret';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { failpoint } from '#failpoints.ts';
import type { PayoutRow, VisiblePayout } from '#payouts/payout-row.ts';
import { findPayout } from '#payouts/payouts.sql.ts';

import { checkPayoutBody, type PayoutOrder } from './check-payout-body.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { NewIntent, NewIntents } from './intents.sql.ts';
import { type IntentDeps, payoutIntents } from './payout-intents.ts';
import { arePayoutsEnabled } from './payouts-enabled.ts';
import { payoutCreated } from '#payouts/payout-metrics.ts';

export type CreatePayoutDeps = IntentDeps & {
  newIntents: NewIntents;
  sealingPublicKey: string;
  /** When an intent that its call leaves behind is checked first: longer than a request may take. */
  intentChecks: { firstMs: number };
};

export type CreatePayoutInput = {
  id: PayoutId;
  accountId: AccountId;
  /** Who asks: an application by its key, or an operator through `/admin`. */
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
  const checked = checkInput(input);
  const { made: payout, replayed } = await createUnderHold(payoutIntents(deps), {
    deadline: input.deadline,
    findOrInsert: () => insertOrFind(deps, input, checked),
    // Nothing is held any more for an account that may not pay out, whatever the body says.
    mayTakeHold: () => arePayoutsEnabled(input.settings),
    refusalOf: (reason) => new AppError(REFUSALS[reason]),
  });
  if (!replayed) payoutCreated(payout);
  return { payout, replayed, mismatch: isMismatch(checked, payout) };
}

/** What names the Pix of a refund is no answer to a payout. */
const REFUSALS = {
  insufficient_balance: 'INSUFFICIENT_BALANCE',
  exceeds_received: 'INTERNAL_ERROR',
  unknown_pix: 'INTERNAL_ERROR',
} as const satisfies Record<CallersRefusal, ErrorCode>;

/** `invalid`: the body itself; `disabled`: only the account's switches stand against it. */
type Checked =
  | { kind: 'accepted'; order: PayoutOrder }
  | { kind: 'disabled'; order: PayoutOrder; error: AppError }
  | { kind: 'invalid'; order: null; error: unknown };

function checkInput(input: CreatePayoutInput): Checked {
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
  checked: Checked,
): Promise<{ row: PayoutRow; isNew: boolean } | null> {
  if (checked.kind === 'accepted') {
    await failpoint('payouts.create.before-insert');
    const inserted = await deps.newIntents.submit(toNewIntent(deps, input, checked.order));
    if (inserted) {
      await failpoint('payouts.create.after-intent');
      return { row: inserted, isNew: true };
    }
  }
  const row = await findPayout(deps.db, input.accountId, input.id);
  if (row === null && checked.kind !== 'accepted') throw checked.error;
  return row === null ? null : { row, isNew: false };
}

/** Another body under the key, or one that could not be read: the answer is marked (decisions 42, 44, 253). */
function isMismatch(checked: Checked, payout: PayoutRow): boolean {
  return checked.order === null || !fingerprintOf(checked.order).equals(payout.fingerprint);
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
    traceparent: currentTraceParent(),
  };
}
