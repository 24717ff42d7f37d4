import {
  ListDisputesQuery,
  OPERATOR_DISPUTE_PATHS,
  SendDefenseBody,
  SendMessageBody,
} from '@pixmesh/contracts/internal/operator-disputes';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { readOperatorBody, refuseTenants } from '@pixmesh/http/operator-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { type DisputeId, readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { findAnyCharge } from '#charges/charges.sql.ts';

import { toOperatorDispute } from './dispute-resource.ts';
import type { DisputeRow } from './dispute-row.ts';
import { findDispute, listMessages } from './disputes.sql.ts';
import { disputeExists, listDisputes } from './list-disputes.sql.ts';
import { sendDefense } from './send-defense.ts';
import { sendMessage } from './send-message.ts';

type RouteDeps = Parameters<typeof sendDefense>[0];

/**
 * Disputes for operators, called by the gateway for the installation: no tenant stands in the token, so a call with
 * one is refused (decision 197).
 */
export function registerOperatorDisputes(app: FastifyInstance, deps: RouteDeps): void {
  app.get(OPERATOR_DISPUTE_PATHS.list, async (request) => {
    refuseTenants(request);
    const { filters, ...page } = readListQuery(ListDisputesQuery, request.query);
    const wanted = {
      accountId: filters.account_id,
      chargeId: filters.charge_id,
      status: filters.status,
      endToEndId: filters.end_to_end_id,
    };
    return await answerList<Awaited<ReturnType<typeof show>> & { id: string }>({
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
    return await read(deps, readOwnId(request));
  });

  app.post(OPERATOR_DISPUTE_PATHS.defense, async (request) => {
    const { id } = await read(deps, readOwnId(request));
    const { text } = readOperatorBody(SendDefenseBody, request);
    return await show(deps, await sendDefense(deps, id as DisputeId, text));
  });

  app.post(OPERATOR_DISPUTE_PATHS.messages, async (request, reply) => {
    const { id } = await read(deps, readOwnId(request));
    const { message, operator_id: operatorId } = readOperatorBody(SendMessageBody, request);
    await sendMessage(deps, { disputeId: id as DisputeId, message, operatorId });
    return reply.code(201).send(await read(deps, id as DisputeId));
  });
}

async function read(deps: RouteDeps, id: DisputeId) {
  const dispute = await findDispute(deps.db, id);
  if (dispute === null) throw new AppError('DISPUTE_NOT_FOUND');
  return await show(deps, dispute);
}

async function show(deps: RouteDeps, dispute: DisputeRow) {
  const charge = await findAnyCharge(deps.db, dispute.chargeId);
  const messages = await listMessages(deps.db, dispute.id);
  return toOperatorDispute(dispute, { reference: charge?.reference ?? null }, messages);
}

function readOwnId(request: FastifyRequest): DisputeId {
  refuseTenants(request);
  return readPathId<DisputeId>((request.params as { id: string }).id);
}
