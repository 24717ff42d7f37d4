import { ANSWER_HEADERS, INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { OPERATOR_CHARGE_PATHS } from '@pixmesh/contracts/internal/operator-charges';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { operatorOf } from '@pixmesh/http/internal-auth';
import type { FastifyInstance } from 'fastify';

import { findOperatorCharge } from '#charge/operators/find-operator-charge.ts';
import { toOperatorCharge } from '#charge/operators/operator-charge-resource.ts';
import type { CheckChargeDeps } from '#status-check/check-charge.ts';

import { cancelCharge } from './cancel-charge.ts';

type RouteDeps = CheckChargeDeps & { requestTimeoutMs: number };

/** Takes a charge back for an operator; called by the gateway for the installation. */
export function registerCancelCharge(app: FastifyInstance, deps: RouteDeps): void {
  app.post(OPERATOR_CHARGE_PATHS.cancel, async (request, reply) => {
    const { id } = await findOperatorCharge(deps.db, request);
    const { operator_id: operatorId } = operatorOf(request);
    const deadline = deadlineFrom(
      request.headers[INTERNAL_HEADERS.timeoutMs],
      deps.requestTimeoutMs,
    );
    const { charge, repeated } = await cancelCharge(deps, id, { operatorId, deadline });
    // A repeat is marked as one, so that the audit log names only the operator who made the change.
    if (repeated) reply.header(ANSWER_HEADERS.replayed, 'true');
    return toOperatorCharge(charge, deps.receiver);
  });
}
