import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import {
  ListPayoutStopsQuery,
  PAYOUT_STOP_PATHS,
  type PayoutStop,
  ResumePayoutsBody,
  StopPayoutsBody,
} from '@pixmesh/contracts/internal/payout-stops';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { operatorOf } from '@pixmesh/http/internal-auth';
import { readBody } from '@pixmesh/http/json-request';
import type { FastifyInstance, FastifyReply } from 'fastify';

import { listStops, type StopRow, stopExists } from './payout-stops.sql.ts';
import { type ChangedStop, resumePayouts, stopPayouts, type StopsDeps } from './stop-payouts.ts';

/** Stops of payouts for operators, called by the gateway for the installation. */
export function registerPayoutStops(app: FastifyInstance, deps: StopsDeps): void {
  app.get(PAYOUT_STOP_PATHS.list, async (request) => {
    const { filters, ...page } = readListQuery(ListPayoutStopsQuery, request.query);
    const wanted = { accountId: filters.account_id, status: filters.status };
    return await answerList({
      page,
      fetch: (limit) => listStops(deps.db, wanted, { ...page, limit }),
      cursorExists: (id) => stopExists(deps.db, id),
      toResource: toPayoutStop,
    });
  });

  app.post(PAYOUT_STOP_PATHS.stop, async (request, reply) => {
    const { operator_id: operatorId } = operatorOf(request);
    const { account_id: accountId, reason } = readBody(StopPayoutsBody, request);
    return answerChanged(reply, await stopPayouts(deps, { accountId, operatorId, reason }));
  });

  app.post(PAYOUT_STOP_PATHS.resume, async (request, reply) => {
    const { operator_id: operatorId } = operatorOf(request);
    const { account_id: accountId } = readBody(ResumePayoutsBody, request);
    return answerChanged(reply, await resumePayouts(deps, { accountId, operatorId }));
  });
}

/** A repeat is marked as one, so that the audit log names who made the change. */
function answerChanged(reply: FastifyReply, { stop, repeated }: ChangedStop): PayoutStop {
  if (repeated) reply.header(ANSWER_HEADERS.replayed, 'true');
  return toPayoutStop(stop);
}

function toPayoutStop(stop: StopRow): PayoutStop {
  return {
    id: stop.id,
    object: 'payout_stop',
    account_id: stop.accountId,
    reason: stop.reason,
    set_by: stop.setBy,
    created_at: stop.createdAt.toISOString(),
    ended_at: stop.endedAt?.toISOString() ?? null,
    ended_by: stop.endedBy,
    breaks: stop.breaks,
  };
}
