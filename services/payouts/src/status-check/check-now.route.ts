import { checkNow, describeCheck } from '@pixmesh/acquirer-orders/check-now';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import {
  OPERATOR_PAYOUT_PATHS,
  type PayoutStatusCheck,
} from '@pixmesh/contracts/internal/operator-payouts';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { AppError } from '@pixmesh/kernel/app-error';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';
import type { FastifyInstance } from 'fastify';

import { findOperatorPayout } from '#operators/find-operator-payout.ts';
import { toOperatorPayout } from '#operators/operator-payout-resource.ts';
import { isVisible, type VisiblePayout } from '#payouts/payout-row.ts';

import { checkVisible } from './check-payout.ts';
import { leasePayout, requestCheck } from './payout-checks.sql.ts';
import type { StatusCheckDeps } from './status-check-deps.ts';

export type CheckNowDeps = StatusCheckDeps & {
  leaseMs: number;
  requestTimeoutMs: number;
};

/**
 * Asks the acquirer for a payout while an operator waits. One that has ended is checked too: it may have come back. So
 * is one that waits for its approval, which changes nothing: a restored database may have lost that it was sent.
 */
export function registerCheckNow(app: FastifyInstance, deps: CheckNowDeps): void {
  const { db } = deps;
  app.post(OPERATOR_PAYOUT_PATHS.check, async (request): Promise<PayoutStatusCheck> => {
    const deadline = deadlineFrom(
      request.headers[INTERNAL_HEADERS.timeoutMs],
      deps.requestTimeoutMs,
    );
    const before = await findOperatorPayout(db, request);
    const { id, status } = before;
    if (status === 'canceled') throw neverOrdered();
    const answer = await checkNow({
      lease: () => leaseVisible(deps, id),
      check: (payout) => checkVisible(deps, payout),
      request: async () => {
        await requestCheck(db, id, currentTraceParent());
        deps.wakeStatusChecks();
      },
      deadline,
    });
    const after = await findOperatorPayout(db, request);
    return {
      id,
      object: 'status_check',
      ...describeCheck(answer, { before, after }),
      resource: toOperatorPayout(after),
    };
  });
}

async function leaseVisible(
  { db, leaseMs }: CheckNowDeps,
  id: VisiblePayout['id'],
): Promise<VisiblePayout | null> {
  const payout = await leasePayout(db, id, leaseMs);
  return payout !== null && isVisible(payout) ? payout : null;
}

function neverOrdered(): AppError {
  const publicMessage = 'The payout was not ordered at the acquirer: there is nothing to check.';
  return new AppError('CONFLICT', { details: ['status'], publicMessage });
}
