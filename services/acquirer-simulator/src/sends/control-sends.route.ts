import { AppError } from '@pixmesh/kernel/app-error';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { ChangeDeps } from '#callbacks/announce.ts';
import { Cents, orNull } from '#control/control-fields.ts';
import { ControlTime } from '#control/control-time.ts';
import { readControlBody } from '#control/read-control-body.ts';
import type { Clock } from '#clock/clock.ts';

import { addForeignSend, endByHand } from './move-send-by-hand.ts';
import type { PlannedSend } from './sends.sql.ts';

const ID_PATTERN = /^[0-9A-Za-z-]{1,64}$/;
const RejectBody = z.object({
  code: z.string().min(1).max(100).optional(),
  message: z.string().max(500).optional(),
});
const ContradictBody = RejectBody.extend({ status: z.enum(['REALIZADO', 'NAO_REALIZADO']) });
const ForeignBody = z.object({
  amount: Cents,
  id_envio: orNull(z.string().regex(/^[a-zA-Z0-9]{1,35}$/)),
  requested_at: orNull(ControlTime),
});

/** What people and tests do to orders by hand. A payout's id is as good as its idEnvio. */
export function addControlSends(app: FastifyInstance, deps: ChangeDeps & { clock: Clock }): void {
  app.post('/control/sends', async (request, reply) => {
    const body = readControlBody(ForeignBody, request.body);
    const send = await addForeignSend(deps, {
      amountCents: body.amount,
      idEnvio: body.id_envio,
      requestedAt: body.requested_at,
    });
    return await reply.code(201).send(describe(send));
  });
  app.post('/control/sends/:id/settle', async (request, reply) => {
    const ending = { kind: 'settle' as const, words: {} };
    return await reply.send(describe(await endByHand(deps, idOf(request), ending)));
  });
  app.post('/control/sends/:id/reject', async (request, reply) => {
    const words = readControlBody(RejectBody, request.body);
    const ending = { kind: 'reject' as const, words };
    return await reply.send(describe(await endByHand(deps, idOf(request), ending)));
  });
  app.post('/control/sends/:id/contradict', async (request, reply) => {
    const { status, ...words } = readControlBody(ContradictBody, request.body);
    const ending = { kind: 'contradict' as const, status, words };
    return await reply.send(describe(await endByHand(deps, idOf(request), ending)));
  });
}

/** @throws AppError `NOT_FOUND` for an id that could be nobody's */
function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string };
  if (!ID_PATTERN.test(id)) throw new AppError('NOT_FOUND');
  return toAcquirerId(id);
}

function describe(send: Pick<PlannedSend, 'idEnvio' | 'endToEndId' | 'amountCents' | 'status'>) {
  return {
    id_envio: send.idEnvio,
    end_to_end_id: send.endToEndId,
    amount: Number(send.amountCents),
    status: send.status,
  };
}
