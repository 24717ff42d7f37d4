import { checkNow, describeCheck } from '@pixmesh/acquirer-orders/check-now';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import {
  type ChargeStatusCheck,
  OPERATOR_CHARGE_PATHS,
} from '@pixmesh/contracts/internal/operator-charges';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';
import type { FastifyInstance } from 'fastify';

import { leaseCharge, requestCheck } from '#charge/charge-checks.sql.ts';
import { findOperatorCharge } from '#charge/operators/find-operator-charge.ts';
import { toOperatorCharge } from '#charge/operators/operator-charge-resource.ts';

import { checkCharge, type StatusCheckDeps } from './status-check.job.ts';

type RouteDeps = StatusCheckDeps & { requestTimeoutMs: number };

/**
 * Asks the acquirer for a charge while an operator waits. A charge of any status is checked: what has ended may have
 * got money since.
 */
export function registerCheckNow(app: FastifyInstance, deps: RouteDeps): void {
  const { db, leaseMs, receiver } = deps;
  app.post(OPERATOR_CHARGE_PATHS.check, async (request): Promise<ChargeStatusCheck> => {
    const deadline = deadlineFrom(
      request.headers[INTERNAL_HEADERS.timeoutMs],
      deps.requestTimeoutMs,
    );
    const before = await findOperatorCharge(db, request);
    const { id } = before;
    const answer = await checkNow({
      lease: () => leaseCharge(db, id, leaseMs),
      check: (charge) => checkCharge(deps, charge),
      request: async () => {
        await requestCheck(db, id, currentTraceParent());
        deps.wakeStatusChecks();
      },
      deadline,
    });
    const after = await findOperatorCharge(db, request);
    return {
      id,
      object: 'status_check',
      ...describeCheck(answer, { before, after }),
      resource: toOperatorCharge(after, receiver),
    };
  });
}
