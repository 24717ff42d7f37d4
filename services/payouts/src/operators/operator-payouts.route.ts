import { ANSWER_HEADERS, INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import {
  ApprovePayoutBody,
  ListOperatorPayoutsQuery,
  OPERATOR_PAYOUT_PATHS,
  RequestPayoutBody,
} from '@pixmesh/contracts/internal/operator-payouts';
import { type Deadline, deadlineFrom } from '@pixmesh/http/deadline';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { readBody } from '@pixmesh/http/json-request';
import { readWrappedBody, requireSent, WRAPPED_BYTES_MAX } from '@pixmesh/http/operator-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, parseId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { answerCreated } from '@pixmesh/http/answer-created';
import { operatorOf } from '@pixmesh/http/internal-auth';
import { createPayout, type CreatePayoutDeps } from '#creation/create-payout.ts';
import { listedPayoutExists, listPayouts } from '#reads/list-payouts.sql.ts';

import { type ActedOn, approvePayout, cancelPayout, type QueueDeps } from './act-on-queued.ts';
import { findOperatorPayout } from './find-operator-payout.ts';
import { toOperatorPayout } from './operator-payout-resource.ts';

type RouteDeps = CreatePayoutDeps & QueueDeps & { requestTimeoutMs: number };

/**
 * Payouts for operators, called by the gateway for the installation: a call with the claims of a tenant is
 * refused.
 */
export function registerOperatorPayouts(app: FastifyInstance, deps: RouteDeps): void {
  app.post(
    OPERATOR_PAYOUT_PATHS.request,
    { bodyLimit: WRAPPED_BYTES_MAX },
    async (request, reply) => {
      const accountId = parseId<AccountId>((request.params as { id: string }).id);
      if (accountId === null) throw new AppError('NOT_FOUND');
      const asked = readWrappedBody(RequestPayoutBody, request);
      const created = await createPayout(deps, {
        id: asked.creation_id,
        accountId,
        requester: { source: 'dashboard', operatorId: operatorOf(request).operator_id },
        settings: asked.settings,
        readBody: () => requireSent(asked.body),
        deadline: deadlineOf(request),
      });
      return answerCreated(reply, created, toOperatorPayout(created.payout));
    },
  );

  app.get(OPERATOR_PAYOUT_PATHS.list, async (request) => {
    const { filters, ...page } = readListQuery(ListOperatorPayoutsQuery, request.query);
    const wanted = toFilters(filters);
    return await answerList({
      page,
      fetch: (limit) => listPayouts(deps.db, wanted, { ...page, limit }),
      cursorExists: (id) => listedPayoutExists(deps.db, wanted, id),
      toResource: toOperatorPayout,
    });
  });

  app.get(OPERATOR_PAYOUT_PATHS.get, async (request) => {
    return toOperatorPayout(await findOperatorPayout(deps.db, request));
  });

  app.post(OPERATOR_PAYOUT_PATHS.approve, async (request, reply) => {
    const { id } = await findOperatorPayout(deps.db, request);
    const { operator_id: operatorId } = operatorOf(request);
    const { settings } = readBody(ApprovePayoutBody, request);
    return answerActedOn(reply, await approvePayout(deps, id, { operatorId, settings }));
  });

  app.post(OPERATOR_PAYOUT_PATHS.cancel, async (request, reply) => {
    const deadline = deadlineOf(request);
    const { id } = await findOperatorPayout(deps.db, request);
    return answerActedOn(reply, await cancelPayout(deps, id, deadline));
  });

  function deadlineOf({ headers }: FastifyRequest): Deadline {
    return deadlineFrom(headers[INTERNAL_HEADERS.timeoutMs], deps.requestTimeoutMs);
  }
}

/** A repeat is marked as one, so that the audit log names whoever made the change, and nobody else. */
function answerActedOn(reply: FastifyReply, { payout, repeated }: ActedOn): object {
  if (repeated) reply.header(ANSWER_HEADERS.replayed, 'true');
  return toOperatorPayout(payout);
}

function toFilters(filters: z.output<typeof ListOperatorPayoutsQuery>) {
  return {
    accountId: filters.account_id,
    status: filters.status,
    source: filters.source,
    reference: filters.reference,
    endToEndId: filters.end_to_end_id,
    createdAfter: filters.created_after,
    createdBefore: filters.created_before,
  };
}
