import type { Acquirer } from '@pixmesh/acquirer/client';
import { failpoint } from '@pixmesh/http/failpoints';
import { assertNever } from '@pixmesh/kernel/app-error';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { decideOrderAnswer, decideOrderLook, type OrderStep } from './decide-return-order.ts';
import { type EndSuspendedDeps, endSuspended } from './end-suspended.ts';
import {
  countReturnPut,
  failReturn,
  keepReturnRefusal,
  markReturnTaken,
  releaseResolution,
  type Resolution,
} from './resolutions.sql.ts';

/** `failure_reason` holds that much (decision 105). */
const REASON_LENGTH_MAX = 255;

export type ReturnItemDeps = EndSuspendedDeps & {
  acquirer: Pick<Acquirer, 'refund' | 'getRefund'>;
  acquirerTimeoutMs: number;
  /** How long a refusal waits after a call that ended unknown, before it counts (decision 119). */
  refusalWaitMs: number;
  processingChecks: CheckPeriods;
  pendingChecks: CheckPeriods;
};

/**
 * One look at the leased return of an item in suspense: read at the acquirer by its own id, ordered where it is not
 * there, and ended as `decideOrderLook` says. Money leaves once, whatever gets lost on the way.
 */
export async function lookAtReturn(deps: ReturnItemDeps, resolution: Resolution): Promise<void> {
  if (resolution.isOrdered || resolution.status !== 'processing') {
    return await releaseResolution(deps.db, resolution, null);
  }
  const order = orderOf(resolution);
  if (order.lastPutAt === null) return await putReturn(deps, resolution);
  const { endToEndId } = resolution.item;
  const found = await deps.acquirer.getRefund(endToEndId, toAcquirerId(resolution.id));
  const step = decideOrderLook(order, found, deps);
  if (step.kind === 'put') return await putReturn(deps, resolution);
  await takeStep(deps, resolution, step);
}

/** Counts the call before it is made: a crash in the middle leaves it unanswered. */
async function putReturn(deps: ReturnItemDeps, resolution: Resolution): Promise<void> {
  if (!(await countReturnPut(deps.db, resolution))) return;
  const counted = {
    ...resolution,
    version: resolution.version + 1,
    unansweredPuts: resolution.unansweredPuts + 1,
    lastPutAt: resolution.readAt,
  };
  const [outcome] = await Promise.all([
    deps.acquirer.refund({
      endToEndId: counted.item.endToEndId,
      refundId: toAcquirerId(counted.id),
      amountCents: counted.item.amount,
    }),
    failpoint('charges.suspense.in-call'),
  ]);
  await takeStep(deps, counted, decideOrderAnswer(orderOf(counted), outcome));
}

async function takeStep(
  deps: ReturnItemDeps,
  resolution: Resolution,
  step: OrderStep,
): Promise<void> {
  const soonMs = nextCheckMs(resolution.checks, deps.processingChecks);
  switch (step.kind) {
    case 'returned':
      await endSuspended(deps, resolution.item, step.returned);
      return await releaseResolution(deps.db, resolution, null);
    case 'fail': {
      const reason = [...step.reason].slice(0, REASON_LENGTH_MAX).join('');
      if (!(await failReturn(deps.db, resolution, reason))) return;
      deps.logger.error(describe(resolution), 'the return of an item in suspense failed');
      return;
    }
    case 'keep_refusal':
      await keepReturnRefusal(deps.db, resolution, { reason: step.reason, lookInMs: soonMs });
      return;
    case 'look_later':
      return await lookLater(deps, resolution, step);
    case 'put':
      return await releaseResolution(deps.db, resolution, 0);
    default:
      return assertNever(step);
  }
}

async function lookLater(
  deps: ReturnItemDeps,
  resolution: Resolution,
  step: Extract<OrderStep, { kind: 'look_later' }>,
): Promise<void> {
  if (step.problem !== null) {
    const fields = { ...describe(resolution), problem: step.problem };
    deps.logger.error(fields, 'the return of an item in suspense is not as it was ordered');
  }
  const isNews = step.pace === 'accepted' && step.problem === null && resolution.unansweredPuts > 0;
  // From here on the looks are about something else: however many it took until now does not make them rarer.
  if (isNews) {
    await markReturnTaken(deps.db, resolution, nextCheckMs(0, acceptedChecks(deps)));
    return;
  }
  const periods = step.pace === 'accepted' ? acceptedChecks(deps) : deps.processingChecks;
  await releaseResolution(deps.db, resolution, nextCheckMs(resolution.checks, periods));
}

/** Most returns are carried out within seconds. */
function acceptedChecks({ processingChecks, pendingChecks }: ReturnItemDeps): CheckPeriods {
  return { firstMs: processingChecks.firstMs, maxMs: pendingChecks.maxMs };
}

function orderOf(resolution: Resolution) {
  return { ...resolution, amount: resolution.item.amount };
}

function describe({ id, item }: Resolution) {
  return { resolution_id: id, item_id: item.id };
}
