import type { Receiver } from '@pixmesh/contracts/http/charge';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import {
  ListOperatorChargesQuery,
  OPERATOR_CHARGE_PATHS,
  RequestChargeBody,
} from '@pixmesh/contracts/internal/operator-charges';
import { answerCreated } from '@pixmesh/http/answer-created';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { readWrappedBody, requireSent, WRAPPED_BYTES_MAX } from '@pixmesh/http/operator-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, parseId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

import { createCharge, type CreateChargeDeps } from '#charge/creation/create-charge.ts';

import { findOperatorCharge } from './find-operator-charge.ts';
import {
  listOperatorCharges,
  type OperatorChargeFilters,
  operatorListHas,
} from './list-operator-charges.sql.ts';
import { toOperatorCharge } from './operator-charge-resource.ts';

type RouteDeps = CreateChargeDeps & { receiver: Receiver; requestTimeoutMs: number };

/**
 * Charges for operators, called by the gateway for the installation. What is made here is a charge of the checkout:
 * issued, paid and announced like any other, and invisible to `/v1` (decisions 97, 178).
 */
export function registerOperatorCharges(app: FastifyInstance, deps: RouteDeps): void {
  const { db, receiver } = deps;

  app.post<{ Params: { id: string } }>(
    OPERATOR_CHARGE_PATHS.request,
    { bodyLimit: WRAPPED_BYTES_MAX },
    async (request, reply) => {
      const accountId = parseId<AccountId>(request.params.id);
      if (accountId === null) throw new AppError('NOT_FOUND');
      const asked = readWrappedBody(RequestChargeBody, request);
      const created = await createCharge(deps, {
        id: asked.creation_id,
        accountId,
        requester: { source: 'checkout' },
        settings: asked.settings,
        readBody: () => requireSent(asked.body),
        deadline: deadlineFrom(request.headers[INTERNAL_HEADERS.timeoutMs], deps.requestTimeoutMs),
      });
      return answerCreated(reply, created, toOperatorCharge(created.charge, receiver));
    },
  );

  app.get(OPERATOR_CHARGE_PATHS.list, async (request) => {
    const { filters, ...page } = readListQuery(ListOperatorChargesQuery, request.query);
    const wanted = toFilters(filters);
    return await answerList({
      page,
      fetch: (limit) => listOperatorCharges(db, wanted, { ...page, limit }),
      cursorExists: (id) => operatorListHas(db, wanted, id),
      toResource: (charge) => toOperatorCharge(charge, receiver),
    });
  });

  app.get(OPERATOR_CHARGE_PATHS.get, async (request) =>
    toOperatorCharge(await findOperatorCharge(db, request), receiver),
  );
}

function toFilters(filters: z.output<typeof ListOperatorChargesQuery>): OperatorChargeFilters {
  return {
    accountId: filters.account_id as AccountId | undefined,
    status: filters.status,
    source: filters.source,
    reference: filters.reference,
    endToEndId: filters.end_to_end_id,
    createdAfter: filters.created_after,
    createdBefore: filters.created_before,
  };
}
