import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import {
  ListRecoveriesQuery,
  OPERATOR_DELIVERY_PATHS,
  RequestRecoveryBody,
} from '@pixmesh/contracts/internal/operator-deliveries';
import { answerCreated } from '@pixmesh/http/answer-created';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { readWrappedBody, requireSent, WRAPPED_BYTES_MAX } from '@pixmesh/http/operator-request';
import { operatorOf } from '@pixmesh/http/internal-auth';
import { AppError } from '@pixmesh/kernel/app-error';
import { readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { cancelRecovery } from './cancel-recovery.ts';
import { listRecoveries, recoveryExists } from './list-recoveries.sql.ts';
import { findRecovery } from './recoveries.sql.ts';
import { type RecoveryRow, toRecoveryResource } from './recovery-row.ts';
import { type RecoveryDeps, requestRecovery } from './request-recovery.ts';

type Params = { Params: { id: string } };

/** Bulk re-sending for operators, as stored jobs. */
export function registerRecoveries(app: FastifyInstance, deps: RecoveryDeps): void {
  app.post(
    OPERATOR_DELIVERY_PATHS.requestRecovery,
    { bodyLimit: WRAPPED_BYTES_MAX },
    async (request, reply) => {
      const asked = readWrappedBody(RequestRecoveryBody, request);
      const requested = await requestRecovery(deps, {
        id: asked.recovery_id,
        operatorId: operatorOf(request).operator_id,
        readBody: () => requireSent(asked.body),
      });
      return answerCreated(reply, requested, toRecoveryResource(requested.stored));
    },
  );

  app.get(OPERATOR_DELIVERY_PATHS.listRecoveries, async (request) => {
    const { filters, ...page } = readListQuery(ListRecoveriesQuery, request.query);
    return await answerList({
      page,
      fetch: (limit) => listRecoveries(deps.db, filters, { ...page, limit }),
      cursorExists: (id) => recoveryExists(deps.db, id),
      toResource: toRecoveryResource,
    });
  });

  app.get<Params>(OPERATOR_DELIVERY_PATHS.getRecovery, async (request) =>
    toRecoveryResource(await requireRecovery(deps, request)),
  );

  app.post<Params>(OPERATOR_DELIVERY_PATHS.cancelRecovery, async (request, reply) => {
    const { id } = await requireRecovery(deps, request);
    const { recovery, repeated } = await cancelRecovery(deps.db, id);
    if (repeated) reply.header(ANSWER_HEADERS.replayed, 'true');
    return toRecoveryResource(recovery);
  });
}

async function requireRecovery(
  { db }: RecoveryDeps,
  request: FastifyRequest<Params>,
): Promise<RecoveryRow> {
  const recovery = await findRecovery(db, readPathId(request.params.id));
  if (recovery === null) throw new AppError('NOT_FOUND');
  return recovery;
}
