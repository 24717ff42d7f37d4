import type { Acquirer, AcquirerCharge } from '@pixmesh/acquirer/client';
import { assertNever } from '@pixmesh/kernel/app-error';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { announceMove } from '#charge/announce-move.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { ignoreHappening } from '#charge/ignored-events.sql.ts';
import { keepReturnTime } from '#disputes/return-facts.sql.ts';
import { happeningIgnored } from '#events.ts';
import { REMOVED_BY_ACQUIRER } from '#charge/issuing/decide-issuing.ts';
import { recordReceived } from '#received/record-received.ts';
import { type ApplyReturnDeps, applyReturn } from '#returns/apply-return.ts';
import type { RefundReturns } from '#refunds/refund-returns.ts';
import { endSuspended, keepUnbooked } from '#suspense/end-suspended.ts';
import { itemOf } from '#suspense/suspense-item.ts';

import { decideLook, type LookStep, type NextLook } from './decide-check.ts';
import { readKnownMoney } from './recorded-money.ts';

/** Refunds whose end one look passes on; a Pix has no more of them in a lifetime. */
const ROUNDS_MAX = 100;

export type ApplyTruthDeps = ApplyReturnDeps & {
  acquirer: Pick<Acquirer, 'cancelCharge'>;
  refunds: RefundReturns;
};

/** `moved`: somebody else moved the charge meanwhile; whatever is left over is for another look. */
export type TruthApplied = Exclude<NextLook, 'at_once'> | 'moved';

/** The charge after a step; null where it has moved since it was read. */
type StepTaken = ChargeRow | null | 'not_yet';

/** The part of the acquirer's charge that decides. */
export type Truth = Pick<AcquirerCharge, 'txid' | 'status' | 'received'>;

/**
 * Applies what the acquirer says of an issued charge, step by step, each a commit of its own and guarded by the
 * charge's version. Repeating it writes nothing.
 */
export async function applyTruth(
  deps: ApplyTruthDeps,
  charge: ChargeRow,
  truth: Truth,
): Promise<TruthApplied> {
  const passedOn = new Set<string>();
  let current: ChargeRow | null = charge;
  for (let round = 0; round < ROUNDS_MAX && current !== null; round += 1) {
    const known = await readKnownMoney(deps, truth);
    const plan = decideLook(current, truth, { ...known, passedOn });
    for (const step of plan.steps) {
      const after: StepTaken = await takeStep(deps, current, { step, truth });
      if (after === null) return 'moved';
      if (after === 'not_yet') return 'soon';
      current = after;
    }
    if (plan.next !== 'at_once') return plan.next;
    for (const step of plan.steps) {
      if (step.kind === 'end_refund') passedOn.add(step.returned.id);
    }
    current = await findAnyCharge(deps.db, charge.id);
  }
  return 'soon';
}

async function takeStep(
  deps: ApplyTruthDeps,
  charge: ChargeRow,
  { step, truth }: { step: LookStep; truth: Truth },
): Promise<StepTaken> {
  switch (step.kind) {
    case 'record_pix':
      return await recordReceived(deps, charge, step);
    case 'fail':
      return await endUnpaid(deps, charge, 'failed');
    case 'cancel':
      return await endUnpaid(deps, charge, 'canceled');
    case 'remove':
      return await remove(deps, charge);
    case 'end_refund':
      return (await deps.refunds.end(charge, step)) ? charge : null;
    case 'book_return':
      // First, since a dispute accounts for the return as soon as it is booked.
      if (step.as === 'med') await keepReturnTime(deps.db, step.endToEndId, step.returned);
      return await applyReturn(deps, charge, step);
    case 'end_suspense':
      await endItem(deps, charge, { step, truth });
      return charge;
    case 'keep_unbooked':
      await keepUnbooked(deps, { endToEndId: step.endToEndId, chargeId: charge.id }, step);
      return charge;
    case 'ignore':
      return await ignore(deps, charge, step);
    default:
      return assertNever(step);
  }
}

/** A removal that is seen at the acquirer: its own (decision 231), or ours whose commit was lost (decision 75). */
async function endUnpaid(
  deps: ApplyTruthDeps,
  charge: ChargeRow,
  status: 'failed' | 'canceled',
): Promise<ChargeRow | null> {
  const isFailed = status === 'failed';
  const after = await announceMove(
    deps,
    {
      from: charge,
      status,
      cause: isFailed ? 'removed_by_acquirer' : 'canceled',
      detail: toAcquirerId(charge.id),
      failureReason: isFailed ? REMOVED_BY_ACQUIRER : null,
      checkInMs: 'kept',
    },
    [`charge.pix.${status}`],
  );
  if (after !== null) deps.wakeOutbox();
  return after;
}

/** A charge whose end was announced shall not be paid any more. What does not succeed now is tried by the next look. */
async function remove(deps: ApplyTruthDeps, charge: ChargeRow): Promise<StepTaken> {
  const removal = await deps.acquirer.cancelCharge(toAcquirerId(charge.id));
  const fields = { charge_id: charge.id, status: charge.status, removal: removal.kind };
  deps.logger.warn(fields, 'a charge that has ended was still open at the acquirer');
  return removal.kind === 'canceled' ? charge : 'not_yet';
}

async function endItem(
  deps: ApplyTruthDeps,
  charge: ChargeRow,
  { step, truth }: { step: Extract<LookStep, { kind: 'end_suspense' }>; truth: Truth },
): Promise<void> {
  const { endToEndId, returned } = step;
  const pix = truth.received.find((item) => item.endToEndId === endToEndId);
  const item = itemOf({
    endToEndId,
    chargeId: charge.id,
    accountId: charge.accountId,
    amount: pix?.amountCents ?? returned.amountCents,
  });
  await endSuspended(deps, item, returned);
}

async function ignore(
  deps: ApplyTruthDeps,
  charge: ChargeRow,
  step: Extract<LookStep, { kind: 'ignore' }>,
): Promise<ChargeRow> {
  if (await ignoreHappening(deps.db, charge, step)) {
    const { id: charge_id, status } = charge;
    happeningIgnored(deps.logger, { charge_id, status, happening: step.happening });
  }
  return charge;
}
