import {
  ListDisputesQuery,
  MessageBody,
  OPERATOR_DISPUTE_PATHS,
  type OperatorDispute,
  DefenseBody,
  SendMessageBody,
} from '@pixmesh/contracts/internal/operator-disputes';
import { answerCreated } from '@pixmesh/http/answer-created';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { parseShape, readBody } from '@pixmesh/http/json-request';
import { readWrappedBody, requireSent, WRAPPED_BYTES_MAX } from '@pixmesh/http/operator-request';
import { operatorOf } from '@pixmesh/http/internal-auth';
import { type DisputeId, type OperatorId, readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { findAnyCharge } from '#charge/charges.sql.ts';

import { toOperatorDispute } from './dispute-resource.ts';
import type { DisputeRow } from './dispute-row.ts';
import { listMessages } from './dispute-messages.sql.ts';
import { disputeExists, listDisputes } from './list-disputes.sql.ts';
import { type DefenseDeps, sendDefense } from './send-defense.ts';
import { replayMessage, sendMessage } from './send-message.ts';
import { readDispute } from './store-defense.ts';

/**
 * Disputes for operators, called by the gateway for the installation: a call with the claims of a tenant is refused
 * (decision 197).
 */
export function registerOperatorDisputes(app: FastifyInstance, deps: DefenseDeps): void {
  app.get(OPERATOR_DISPUTE_PATHS.list, async (request) => {
    const { filters, ...page } = readListQuery(ListDisputesQuery, request.query);
    const wanted = {
      accountId: filters.account_id,
      chargeId: filters.charge_id,
      status: filters.status,
      endToEndId: filters.end_to_end_id,
    };
    return await answerList<OperatorDispute>({
      page,
      fetch: async (limit) => {
        const rows = await listDisputes(deps.db, wanted, { ...page, limit });
        return await Promise.all(rows.map((row) => show(deps, row)));
      },
      cursorExists: (id) => disputeExists(deps.db, id),
      toResource: (dispute) => dispute,
    });
  });

  app.get(OPERATOR_DISPUTE_PATHS.get, async (request) => {
    return await show(deps, await readDispute(deps.db, readOwnId(request)));
  });

  app.post(OPERATOR_DISPUTE_PATHS.defense, async (request) => {
    const { id } = await readDispute(deps.db, readOwnId(request));
    const { text } = readBody(DefenseBody, request);
    return await show(deps, await sendDefense(deps, id, text));
  });

  app.post(
    OPERATOR_DISPUTE_PATHS.messages,
    { bodyLimit: WRAPPED_BYTES_MAX },
    async (request, reply) => {
      const { id } = await readDispute(deps.db, readOwnId(request));
      const asked = readWrappedBody(SendMessageBody, request);
      const sent = await sendOnce(deps, id, {
        ...asked,
        operatorId: operatorOf(request).operator_id,
      });
      return answerCreated(
        reply,
        sent,
        await show(deps, await readDispute(deps.db, sent.disputeId)),
      );
    },
  );
}

/** What was sent before is answered before the body is validated (decisions 52, 253). */
async function sendOnce(
  deps: DefenseDeps,
  disputeId: DisputeId,
  asked: SendMessageBody & { operatorId: OperatorId },
) {
  const { message_id: id, operatorId, body } = asked;
  const message = MessageBody.safeParse(body).data?.message ?? null;
  const before = await replayMessage(deps, { id, disputeId, message });
  if (before !== null) return before;
  const parsed = parseShape(MessageBody, requireSent(body));
  return await sendMessage(deps, { id, disputeId, operatorId, ...parsed });
}

async function show({ db }: DefenseDeps, dispute: DisputeRow): Promise<OperatorDispute> {
  const charge = await findAnyCharge(db, dispute.chargeId);
  const messages = await listMessages(db, dispute.id);
  return toOperatorDispute(dispute, { reference: charge?.reference ?? null }, messages);
}

function readOwnId(request: FastifyRequest): DisputeId {
  return readPathId<DisputeId>((request.params as { id: string }).id);
}
