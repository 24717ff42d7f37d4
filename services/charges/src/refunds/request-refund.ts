import { createHash } from 'node:crypto';

import { createUnderHold } from '@pixmesh/acquirer-orders/create-under-hold';
import type { CallersRefusal } from '@pixmesh/acquirer-orders/hold-intent';
import { CreateRefundBody } from '@pixmesh/contracts/internal/operator-charges';
import type { Deadline } from '@pixmesh/http/deadline';
import { parseShape } from '@pixmesh/http/json-request';
import { requireSent } from '@pixmesh/http/operator-request';
import { AppError, type ErrorCode } from '@pixmesh/kernel/app-error';
import { type ChargeId, newId, type OperatorId, type RefundId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { failpoint } from '#failpoints.ts';

import { decideRefund, refundablePix } from './decide-refund.ts';
import { insertIntent, lockCharge, sumTaken } from './intents.sql.ts';
import { type IntentDeps, refundIntents } from './refund-intents.ts';
import type { RefundRow, VisibleRefund } from './refund-row.ts';
import { findRefund } from './refunds.sql.ts';

export type RequestRefundDeps = IntentDeps & {
  /** When an intent that its call leaves behind is checked first: longer than a request may take. */
  intentChecks: { firstMs: number };
};

type RequestRefundInput = {
  id: RefundId;
  charge: ChargeRow;
  operatorId: OperatorId;
  /** The operator's JSON object as it came; null where it could not be read as one. */
  body: Record<string, unknown> | null;
  deadline: Deadline;
};

type RequestedRefund = { refund: VisibleRefund; replayed: boolean; mismatch: boolean };

/**
 * Begins a refund under the id that its `Idempotency-Key` derives, or returns the one that has it (decision 76).
 *
 * Safe to repeat from any process for ever: the primary key is the lock, and the money is reserved under the `hold_id`
 * of the row, in the ledger, which bounds refunds and returns by the Pix. The intent is stored before the ledger is
 * called; no transaction is open meanwhile. The answer never depends on the acquirer: the job sends what was committed.
 *
 * @throws AppError `VALIDATION_ERROR`; `CHARGE_NOT_REFUNDABLE`; `REFUND_EXCEEDS_CHARGE`;
 *   `INSUFFICIENT_BALANCE`; `INTERNAL_ERROR` while the ledger does not answer
 */
export async function requestRefund(
  deps: RequestRefundDeps,
  input: RequestRefundInput,
): Promise<RequestedRefund> {
  const { made: refund, replayed } = await createUnderHold(refundIntents(deps), {
    deadline: input.deadline,
    findOrInsert: () => findOrInsert(deps, input),
    mayTakeHold: async ({ chargeId }) => {
      const charge = await findAnyCharge(deps.db, chargeId);
      return charge !== null && refundablePix(charge) !== null;
    },
    refusalOf: (reason) => new AppError(REFUSALS[reason]),
  });
  return { refund, replayed, mismatch: isMismatch(input, refund) };
}

/** A paid charge whose Pix the ledger does not know is a contradiction: reported, and nothing of the caller's. */
const REFUSALS = {
  insufficient_balance: 'INSUFFICIENT_BALANCE',
  exceeds_received: 'REFUND_EXCEEDS_CHARGE',
  unknown_pix: 'INTERNAL_ERROR',
} as const satisfies Record<CallersRefusal, ErrorCode>;

/**
 * What stands under the id, or this call's own new intent; null when another call stored one in between. What is stored
 * is answered before the body is validated (decisions 52, 253).
 */
async function findOrInsert(
  deps: RequestRefundDeps,
  input: RequestRefundInput,
): Promise<{ row: RefundRow; isNew: boolean } | null> {
  const row = await findRefund(deps.db, input.id);
  if (row !== null) {
    // Keys are unique within an account: an id of another one cannot come from a key.
    if (row.accountId !== input.charge.accountId) throw new AppError('CHARGE_NOT_FOUND');
    return { row, isNew: false };
  }
  const wanted = readAmount(input.body);
  await failpoint('charges.refund.before-insert');
  const inserted = await storeIntent(deps, input, wanted);
  if (inserted === null) return null;
  await failpoint('charges.refund.after-intent');
  return { row: inserted, isNew: true };
}

/** Counts what is left of the charge and takes its part of it, alone. */
async function storeIntent(
  deps: RequestRefundDeps,
  input: RequestRefundInput,
  wanted: Cents | null,
): Promise<RefundRow | null> {
  return await deps.db.transaction(async (tx) => {
    const charge = await lockCharge(tx, input.charge.id);
    if (charge === null) throw new AppError('CHARGE_NOT_FOUND');
    const taken = charge.endToEndId === null ? 0n : await sumTaken(tx, charge.endToEndId);
    const decision = decideRefund(charge, wanted, taken);
    if (decision.kind === 'refuse') {
      // The key may have been taken since it was read, by the very refund that left nothing of the charge.
      if ((await findRefund(tx, input.id)) !== null) return null;
      throw new AppError(decision.code);
    }
    return await insertIntent(tx, {
      id: input.id,
      charge,
      endToEndId: decision.endToEndId,
      amount: decision.amount,
      holdId: newId(),
      requestedBy: input.operatorId,
      fingerprint: fingerprintOf(input.charge.id, wanted),
      firstCheckMs: deps.intentChecks.firstMs,
    });
  });
}

/** @throws AppError `VALIDATION_ERROR` */
function readAmount(body: RequestRefundInput['body']): Cents | null {
  const { amount } = parseShape(CreateRefundBody, requireSent(body));
  return amount === null ? null : toCents(amount);
}

/**
 * Another body or charge under the key, or a body that could not be read: the answer is marked so (decisions 42, 253).
 */
function isMismatch({ charge, body }: RequestRefundInput, refund: RefundRow): boolean {
  const parsed = CreateRefundBody.safeParse(body);
  if (!parsed.success) return true;
  const wanted = parsed.data.amount === null ? null : toCents(parsed.data.amount);
  return !fingerprintOf(charge.id, wanted).equals(refund.fingerprint);
}

/** Digest of what is asked for: a refund of all that is left differs from one of an amount, whatever is left. */
export function fingerprintOf(chargeId: ChargeId, amount: Cents | null): Buffer {
  const meaning = JSON.stringify([chargeId, amount === null ? null : String(amount)]);
  return createHash('sha256').update(meaning, 'utf8').digest();
}
