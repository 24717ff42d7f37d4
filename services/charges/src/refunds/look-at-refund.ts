import type { Acquirer, RefundOutcome } from '@pixmesh/acquirer/client';
import { wasNeverSent } from '@pixmesh/acquirer/never-sent';
import { deadlineIn } from '@pixmesh/http/deadline';
import { failpoint } from '@pixmesh/http/failpoints';
import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { findAnyCharge } from '#charges/charges.sql.ts';
import {
  decideOrderAnswer,
  decideOrderLook,
  type OrderStep,
} from '#suspense/decide-return-order.ts';

import { endFailed, endRefund, type EndRefundDeps } from './end-refund.ts';
import { type IntentDeps, settleIntent } from './finish-intent.ts';
import { countPut, keepRefusal, markTaken, releaseRefund, uncountPut } from './progress.sql.ts';
import type { RefundRow } from './refund-row.ts';
import { lookShowedProblem, refundCalled } from './refund-signals.ts';

/** How long the ledger is waited for when the job settles an intent. */
export const INTENT_TIMEOUT_MS = 5_000;
/** Tries when the charge moves between read and write; each is a fresh decision. */
const TRIES_MAX = 5;

/** What following refunds needs; periods in milliseconds. */
export type RefundLookDeps = EndRefundDeps &
  IntentDeps & {
    acquirer: Pick<Acquirer, 'refund' | 'getRefund'>;
    acquirerTimeoutMs: number;
    /** How long a refusal waits after a call that ended unknown, before it counts (decision 119). */
    refusalWaitMs: number;
    intentChecks: CheckPeriods;
    unknownChecks: CheckPeriods;
    acceptedChecks: CheckPeriods;
  };

/** A leased refund, and until when by `performance.now()` a call of it may begin and still end within the lease. */
export type LeasedRefund = { refund: RefundRow; callBeforeMs: number };

/**
 * One look for a leased row: an intent is settled with the ledger; a refund is read at the acquirer by its own id,
 * ordered where it is not there, and ended as `decideOrderLook` says. Money leaves once, whatever gets lost on the way.
 */
export async function lookAtRefund(deps: RefundLookDeps, leased: LeasedRefund): Promise<void> {
  const { refund } = leased;
  if (refund.status === 'intent') return await lookAtIntent(deps, refund);
  if (refund.status !== 'processing') return await releaseRefund(deps.db, refund, null);
  if (refund.lastPutAt === null) return await order(deps, leased);
  const found = await deps.acquirer.getRefund(refund.endToEndId, toAcquirerId(refund.id));
  const step = decideOrderLook(refund, found, deps);
  if (step.kind === 'put') return await order(deps, leased);
  const returnId = found.kind === 'found' ? found.value.returnId : null;
  await takeStep(deps, refund, { step, returnId });
}

/** One call, counted before it is made, outside any transaction. */
async function order(deps: RefundLookDeps, { refund, callBeforeMs }: LeasedRefund): Promise<void> {
  const counted = await countPut(deps.db, refund);
  if (counted === null) return;
  await failpoint('charges.refund.before-call');
  const lookInMs = nextCheckMs(refund.checks, deps.unknownChecks);
  if (performance.now() >= callBeforeMs) {
    // A process that slept must not call any more: others count on the call having ended with the lease.
    await uncountPut(deps.db, counted, { lastPutAt: refund.lastPutAt, lookInMs: 0 });
    return;
  }
  const outcome = await call(deps, counted);
  refundCalled(deps.logger, counted, outcome);
  await failpoint('charges.refund.after-answer');
  if (wasNeverSent(outcome)) {
    await uncountPut(deps.db, counted, { lastPutAt: refund.lastPutAt, lookInMs });
    return;
  }
  const returnId = outcome.kind === 'accepted' ? outcome.refund.returnId : null;
  await takeStep(deps, counted, { step: decideOrderAnswer(counted, outcome), returnId });
}

async function call(deps: RefundLookDeps, refund: RefundRow): Promise<RefundOutcome> {
  const [outcome] = await Promise.all([
    deps.acquirer.refund({
      endToEndId: refund.endToEndId,
      refundId: toAcquirerId(refund.id),
      amountCents: refund.amount,
    }),
    failpoint('charges.refund.in-call'),
  ]);
  return outcome;
}

/** Every write is guarded by the version of the read: an answer that comes too late changes nothing. */
async function takeStep(
  deps: RefundLookDeps,
  refund: RefundRow,
  { step, returnId }: { step: OrderStep; returnId: string | null },
): Promise<void> {
  const soonMs = nextCheckMs(refund.checks, deps.unknownChecks);
  switch (step.kind) {
    case 'returned':
      return await endAsSeen(deps, refund, step.returned);
    case 'fail':
      await endFailed(deps, refund, step.reason);
      return;
    case 'keep_refusal':
      await keepRefusal(deps.db, refund, { reason: step.reason, lookInMs: soonMs });
      return;
    case 'look_later':
      return await lookLater(deps, refund, { ...step, returnId });
    case 'put':
      return await releaseRefund(deps.db, refund, 0);
    default:
      return assertNever(step);
  }
}

async function endAsSeen(
  deps: RefundLookDeps,
  { chargeId, endToEndId }: RefundRow,
  returned: Extract<OrderStep, { kind: 'returned' }>['returned'],
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const charge = await findAnyCharge(deps.db, chargeId);
    if (charge === null) throw new Error('a refund without its charge');
    if (await endRefund(deps, charge, { endToEndId, returned })) return;
  }
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the charge of a refund kept moving' });
}

async function lookLater(
  deps: RefundLookDeps,
  refund: RefundRow,
  step: Extract<OrderStep, { kind: 'look_later' }> & { returnId: string | null },
): Promise<void> {
  if (step.problem !== null) lookShowedProblem(deps.logger, refund, step.problem);
  const isTaken = step.pace === 'accepted' && step.problem === null && refund.unansweredPuts > 0;
  if (isTaken) {
    const lookInMs = nextCheckMs(0, deps.acceptedChecks);
    await markTaken(deps.db, refund, { returnId: step.returnId, lookInMs });
    return;
  }
  const periods = step.pace === 'accepted' ? deps.acceptedChecks : deps.unknownChecks;
  await releaseRefund(deps.db, refund, nextCheckMs(refund.checks, periods));
}

async function lookAtIntent(deps: RefundLookDeps, intent: RefundRow): Promise<void> {
  const outcome = await settleIntent(deps, intent, deadlineIn(INTENT_TIMEOUT_MS));
  if (outcome.kind === 'finished' || outcome.kind === 'dropped') return;
  await releaseRefund(deps.db, intent, nextCheckMs(intent.checks, deps.intentChecks));
}
