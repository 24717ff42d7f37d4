import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { recordIgnoredEvent } from '#charge/ignored-events.sql.ts';
import { REMOVED_BY_ACQUIRER } from '#charge/issuing/decide-issuing.ts';
import { announceMove, type ChargeMoves } from '#charge/move-charges.sql.ts';
import { recordReceived, type RecordReceivedDeps } from '#received/record-received.ts';
import { endRefund } from '#refunds/end-refund.ts';
import { bookReturn, type BookReturnDeps } from '#returns/book-return.ts';
import { endSuspended, recordUnbooked } from '#suspense/end-suspended.ts';

import {
  type CheckStep,
  decideCheck,
  type NextCheck,
  type ProviderState,
  type Recorded,
} from './decide-check.ts';
import { loadRecordedMoney, type RecordedMoneyDeps, type ShownMoney } from './recorded-money.ts';

/** Refunds that one check ends at most; a Pix has no more of them in a lifetime. */
const ROUNDS_MAX = 100;

export type ApplyStateDeps = BookReturnDeps &
  RecordedMoneyDeps &
  RecordReceivedDeps & {
    moves: ChargeMoves;
    logger: Logger;
    acquirer: Pick<Acquirer, 'cancelCharge' | 'listDisputes'>;
  };

/**
 * `moved`: the charge has moved since it was read; what is left over is for another check. `ended`: the check
 * has ended with its last step, and its lease with it.
 */
export type StateApplied = Exclude<NextCheck, 'at_once'> | 'moved' | 'ended';

/**
 * Applies the provider state of an issued charge, step by step. A step that changes the charge is a commit guarded by
 * its version; one about an item of suspense holds the item's lock. Repeating it writes nothing.
 */
export async function applyProviderState(
  deps: ApplyStateDeps,
  charge: ChargeRow,
  state: ProviderState & ShownMoney,
): Promise<StateApplied> {
  if (await recordFirstPix(deps, charge, state)) return 'ended';
  const endedRefunds = new Set<string>();
  let current: ChargeRow | null = charge;
  for (let round = 0; round < ROUNDS_MAX && current !== null; round += 1) {
    const recorded = await loadRecordedMoney(deps, state);
    const plan = decideCheck(current, state, { ...recorded, endedRefunds });
    const last = plan.next === 'rest' ? plan.steps.at(-1) : undefined;
    for (const step of plan.steps) {
      if (step === last && step.kind === 'record_pix' && charge.leaseToken !== null) {
        const record = { ...step, endedLease: charge.leaseToken };
        return (await recordReceived(deps, current, record)) === null ? 'moved' : 'ended';
      }
      const after: ChargeRow | 'not_yet' | null = await applyStep(deps, current, step);
      if (after === null) return 'moved';
      if (after === 'not_yet') return 'soon';
      if (step.kind === 'end_refund') endedRefunds.add(step.returned.id);
      current = after;
    }
    if (plan.next !== 'at_once') return plan.next;
    current = await findAnyCharge(deps.db, charge.id);
  }
  return 'soon';
}

/**
 * The one Pix that pays a pending charge is recorded without asking what is recorded of it: the record itself refuses
 * one that is. Where it does, or the charge has moved, nothing is written, and the check goes on by what is recorded.
 */
async function recordFirstPix(
  deps: ApplyStateDeps,
  charge: ChargeRow,
  state: ProviderState,
): Promise<boolean> {
  const { leaseToken } = charge;
  if (leaseToken === null || state.received.some(({ returns }) => returns.length > 0)) return false;
  const { steps, next } = decideCheck(charge, state, NOTHING_RECORDED);
  const [step, ...others] = steps;
  if (step?.kind !== 'record_pix' || others.length > 0 || next !== 'rest') return false;
  if (step.disposition.kind !== 'credit') return false;
  return (await recordReceived(deps, charge, { ...step, endedLease: leaseToken })) !== null;
}

/** One commit. Returns the charge after it, null where it has moved since it was read. */
async function applyStep(
  deps: ApplyStateDeps,
  charge: ChargeRow,
  step: CheckStep,
): Promise<ChargeRow | 'not_yet' | null> {
  const { id, accountId, status } = charge;
  switch (step.kind) {
    case 'record_pix':
      return await recordReceived(deps, charge, step);
    case 'fail':
    case 'cancel': {
      const { event, ...move } = REMOVALS[step.kind];
      const detail = toAcquirerId(id);
      return await announceMove(deps, { from: charge, ...move, detail, checkInMs: 'kept' }, [
        event,
      ]);
    }
    case 'remove': {
      // What does not succeed now is tried by the next check.
      const removal = await deps.acquirer.cancelCharge(toAcquirerId(id), { accountId });
      deps.logger.warn(
        { charge_id: id, status, removal: removal.kind },
        'ended charge was open at the acquirer',
      );
      return removal.kind === 'canceled' ? charge : 'not_yet';
    }
    case 'end_refund':
      return (await endRefund(deps, charge, step)) ? charge : null;
    case 'book_return':
      return await bookReturn(deps, charge, step);
    case 'end_suspense':
      await endSuspended(deps, { chargeId: id, endToEndId: step.endToEndId }, step.returned);
      return charge;
    case 'record_unbooked':
      await recordUnbooked(deps, { chargeId: id, endToEndId: step.endToEndId }, step);
      return charge;
    case 'ignore':
      if (await recordIgnoredEvent(deps.db, charge, step)) {
        ignored.add(1, { happening: step.event });
        deps.logger.warn({ charge_id: id, status, event: step.event }, 'event ignored');
      }
      return charge;
    default:
      return assertNever(step);
  }
}

/** A removal that is seen at the acquirer: its own (decision 231), or ours whose commit was lost (decision 75). */
const REMOVALS = {
  fail: {
    status: 'failed',
    cause: 'removed_by_acquirer',
    failureReason: REMOVED_BY_ACQUIRER,
    event: 'charge.pix.failed',
  },
  cancel: {
    status: 'canceled',
    cause: 'canceled',
    failureReason: null,
    event: 'charge.pix.canceled',
  },
} as const;

const NOTHING_RECORDED: Recorded = {
  received: new Map(),
  returns: new Map(),
  refunds: new Set(),
  disputed: new Set(),
  won: new Set(),
  endedRefunds: new Set(),
};

const ignored = counter(
  'charge_happenings_ignored_total',
  'What the acquirer showed that has no place in the table of transitions',
  [],
);
