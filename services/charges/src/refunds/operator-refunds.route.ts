import {
  OPERATOR_CHARGE_PATHS,
  RequestRefundBody,
} from '@pixmesh/contracts/internal/operator-charges';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { answerCreated } from '@pixmesh/http/answer-created';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { readWrappedBody, WRAPPED_BYTES_MAX } from '@pixmesh/http/operator-request';
import { operatorOf } from '@pixmesh/http/internal-auth';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { findOperatorCharge } from '#charge/operators/find-operator-charge.ts';

import { toRefundResource } from './refund-resource.ts';
import { isVisible } from './refund-row.ts';
import { listedRefundExists, listRefunds } from './refunds.sql.ts';
import { requestRefund, type RequestRefundDeps } from './request-refund.ts';

type RouteDeps = RequestRefundDeps & { requestTimeoutMs: number };

/** Refunds of a charge for operators, called by the gateway for the installation. */
export function registerOperatorRefunds(app: FastifyInstance, deps: RouteDeps): void {
  app.post(
    OPERATOR_CHARGE_PATHS.refunds,
    { bodyLimit: WRAPPED_BYTES_MAX },
    async (request, reply) => {
      const charge = await findOperatorCharge(deps.db, request);
      const asked = readWrappedBody(RequestRefundBody, request);
      const requested = await requestRefund(deps, {
        id: asked.refund_id,
        charge,
        operatorId: operatorOf(request).operator_id,
        body: asked.body,
        deadline: deadlineFrom(request.headers[INTERNAL_HEADERS.timeoutMs], deps.requestTimeoutMs),
      });
      return answerCreated(reply, requested, toRefundResource(requested.refund));
    },
  );

  app.get(OPERATOR_CHARGE_PATHS.refunds, async (request) => {
    const { id: chargeId } = await findOperatorCharge(deps.db, request);
    const { limit, startingAfter } = readListQuery(z.object({}), request.query);
    return await answerList({
      page: { limit, startingAfter },
      fetch: async (rows) => {
        const refunds = await listRefunds(deps.db, chargeId, { limit: rows, startingAfter });
        return refunds.filter(isVisible);
      },
      cursorExists: (id) => listedRefundExists(deps.db, chargeId, id),
      toResource: toRefundResource,
    });
  });
}
