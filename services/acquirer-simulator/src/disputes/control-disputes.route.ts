import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { ChangeDeps } from '#callbacks/announce.ts';
import { Cents, CentsOrNothing, Nature, orNull, PixId } from '#control/control-fields.ts';
import { ControlTime } from '#control/control-time.ts';
import { readControlBody } from '#control/read-control-body.ts';

import { describeDispute } from './dispute-resource.ts';
import { decideByHand, openDispute } from './move-dispute.ts';

/** What goes back where the dispute is lost; an amount of 0 is nothing. */
const Terms = { returned_amount: orNull(CentsOrNothing), natureza: orNull(Nature) };

const OpenBody = z.object({
  end_to_end_id: PixId,
  amount: orNull(Cents),
  reason: z
    .string()
    .regex(/^[A-Za-z_]{1,40}$/)
    .default('SCAM')
    .transform((word) => word.toUpperCase()),
  status: z.enum(['open', 'under_review', 'won', 'lost']).default('open'),
  opened_at: orNull(ControlTime),
  ...Terms,
});

const DecideBody = z.object({ outcome: z.enum(['won', 'lost']), ...Terms });

/** What the payer's side and the provider do about a received Pix. No callback announces any of it. */
export function addControlDisputes(app: FastifyInstance, deps: ChangeDeps): void {
  app.post('/control/disputes', async (request, reply) => {
    const body = readControlBody(OpenBody, request.body);
    const dispute = await openDispute(deps, {
      endToEndId: body.end_to_end_id,
      amountCents: body.amount,
      reason: body.reason,
      status: body.status,
      openedAt: body.opened_at,
      returnedCents: body.returned_amount,
      nature: body.natureza,
    });
    return await reply.code(201).send(describeDispute(dispute));
  });
  app.post('/control/disputes/:id/decide', async (request, reply) => {
    const { outcome, returned_amount, natureza } = readControlBody(DecideBody, request.body);
    const act = outcome === 'won' ? ('win' as const) : ('lose' as const);
    const order = { act, terms: { returnedCents: returned_amount, nature: natureza } };
    return await reply.send(describeDispute(await decideByHand(deps, idOf(request), order)));
  });
  app.post('/control/disputes/:id/withdraw', async (request, reply) => {
    const order = { act: 'withdraw' as const, terms: { returnedCents: null, nature: null } };
    return await reply.send(describeDispute(await decideByHand(deps, idOf(request), order)));
  });
}

/** @throws AppError `NOT_FOUND` for an id that could be nobody's */
function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string };
  if (!z.guid().safeParse(id).success) throw new AppError('NOT_FOUND');
  return id;
}
