import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, type ApplicationId, type ChargeId, newId } from '@pixmesh/kernel/ids';
import { sealSecret } from '@pixmesh/kernel/sealed-secret';
import type { Deadline } from '@pixmesh/http/deadline';
import type { Database } from '@pixmesh/postgres/pool';

import type { ChargeRow } from '#charge/charge-row.ts';
import { chargeCreated } from '#charge/charge-metrics.ts';
import { findCharge } from '#charge/charges.sql.ts';
import { failpoint } from '#failpoints.ts';
import type { Issuing } from '#charge/issuing/issuing.ts';

import { checkChargeBody, type ChargeOrder } from './check-charge-body.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { NewCharges } from './new-charges.sql.ts';

export type CreateChargeDeps = {
  db: Database;
  newCharges: NewCharges;
  issuing: Issuing;
  sealingPublicKey: string;
  /** How long the row is ours: longer than an exchange with the acquirer can take. */
  leaseMs: number;
};

export type CreateChargeInput = {
  id: ChargeId;
  accountId: AccountId;
  /** Who asks: an application by its key, or an operator for the checkout (decisions 97, 178). */
  requester: { source: 'api'; applicationId: ApplicationId } | { source: 'checkout' };
  settings: AccountSettings;
  /** Reads the request's object. @throws AppError `VALIDATION_ERROR` when it is none */
  readBody(): Record<string, unknown>;
  deadline: Deadline;
};

export type CreatedCharge = { charge: ChargeRow; replayed: boolean; mismatch: boolean };

/**
 * Creates a charge under the id that its `Idempotency-Key` derives, or returns the one that has it.
 *
 * Safe to repeat from any process for ever: the primary key is the lock, and the acquirer knows the charge by
 * the same id. The row is stored before the acquirer is called; no transaction is open meanwhile. A body that
 * fails its rules stores nothing, but a key that already has a charge is answered with it whatever the body
 * says (decisions 12, 52, 253).
 *
 * @throws AppError of the body's rules; `ACQUIRER_REJECTED`; `INTERNAL_ERROR` while the outcome is unknown
 */
export async function createCharge(
  deps: CreateChargeDeps,
  input: CreateChargeInput,
): Promise<CreatedCharge> {
  const checked = checkOrder(input);
  if (checked.kind === 'accepted') {
    await failpoint('charges.create.before-insert');
    const stored = await deps.newCharges.submit(toNewCharge(deps, input, checked.order));
    await failpoint('charges.create.after-insert');
    if (stored) {
      chargeCreated(stored);
      return { charge: await deps.issuing.issueNew(stored, input.deadline), ...FIRST };
    }
  }
  const existing = await findCharge(deps.db, input.accountId, input.id);
  if (!existing) throw refusal(checked);
  const charge = await deps.issuing.finish(existing, input.deadline);
  return { charge, replayed: true, mismatch: isMismatch(checked, existing) };
}

const FIRST = { replayed: false, mismatch: false } as const;

type CheckedOrder =
  | { kind: 'accepted'; order: ChargeOrder }
  | { kind: 'refused'; error: unknown; order: ChargeOrder | null };

function checkOrder(input: CreateChargeInput): CheckedOrder {
  try {
    const order = checkChargeBody(input.readBody());
    if (input.settings.status === 'active') return { kind: 'accepted', order };
    return { kind: 'refused', order, error: new AppError('ACCOUNT_INACTIVE') };
  } catch (error) {
    return { kind: 'refused', order: null, error };
  }
}

function refusal(checked: CheckedOrder): unknown {
  if (checked.kind === 'refused') return checked.error;
  // The row was there when we tried to insert it, and charges are never deleted.
  return new AppError('INTERNAL_ERROR', { message: 'a charge vanished between insert and read' });
}

/** A body without an expiry means the default of the charge's creation, whatever the account's is by now. */
function isMismatch(checked: CheckedOrder, existing: ChargeRow): boolean {
  if (checked.order === null) return true;
  const { defaultExpiresIn, expiresIn } = existing;
  const fingerprint = fingerprintOf(checked.order, defaultExpiresIn ?? expiresIn);
  return !fingerprint.equals(existing.fingerprint);
}

function toNewCharge(deps: CreateChargeDeps, input: CreateChargeInput, order: ChargeOrder) {
  const { id, accountId, requester, settings } = input;
  return {
    ...order,
    id,
    accountId,
    applicationId: requester.source === 'api' ? requester.applicationId : null,
    source: requester.source,
    webhookSealedSecret:
      order.webhookSecret === null
        ? null
        : sealSecret(deps.sealingPublicKey, order.webhookSecret, `${accountId}/${id}`),
    expiresIn: order.expiresIn ?? settings.charge_expires_in,
    defaultExpiresIn: settings.charge_expires_in,
    latePaymentPolicy: settings.late_payment_policy,
    releaseDelaySeconds: settings.release_delay_seconds,
    fingerprint: fingerprintOf(order, settings.charge_expires_in),
    leaseToken: newId(),
    leaseMs: deps.leaseMs,
  };
}
