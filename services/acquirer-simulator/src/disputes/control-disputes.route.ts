import { rawBody } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { ControlTime } from '#control/control-time.ts';
import { readControlBody } from '#control/read-control-body.ts';

import { describeDispute } from './dispute-resource.ts';
import { decideByHand, type DisputeDeps, type LostTerms, openDispute } from './move-dispute.ts';

const Amount = z.int().min(1).max(Number(AMOUNT_CENTS_MAX));

/** What goes back where the dispute is lost; an amount of 0 is nothing. */
const Terms = {
  returned_amount: z.int().min(0).max(Number(AMOUNT_CENTS_MAX)).nullish(),
  natureza: z
    .string()
    .regex(/^[A-Z_]{1,40}$/)
    .nullish(),
};

const OpenBody = z.object({
  end_to_end_id: z.string().regex(/^[!-~]{1,64}$/),
  amount: Amount.nullish(),
  reason: z
    .string()
    .regex(/^[A-Za-z_]{1,40}$/)
    .default('SCAM')
    .transform((word) => word.toUpperCase()),
  status: z.enum(['open', 'under_review', 'won', 'lost']).default('open'),
  opened_at: ControlTime.nullish(),
  ...Terms,
});

const DecideBody = z.object({ outcome: z.enum(['won', 'lost']), ...Terms });

/** What the payer's side and the provider do about a received Pix. No callback announces any of it. */
export function addControlDisputes(app: FastifyInstance, deps: DisputeDeps): void {
  app.post('/control/disputes', async (request, reply) => {
    const body = readControlBody(OpenBody, rawBody(request.body));
    const dispute = await openDispute(deps, {
      endToEndId: body.end_to_end_id,
      amountCents: body.amount ? BigInt(body.amount) : null,
      reason: body.reason,
      status: body.status,
      openedAt: body.opened_at ?? null,
      ...readTerms(body),
    });
    return await reply.code(201).send(describeDispute(dispute));
  });
  app.post('/control/disputes/:id/decide', async (request, reply) => {
    const body = readControlBody(DecideBody, rawBody(request.body));
    const act = body.outcome === 'won' ? ('win' as const) : ('lose' as const);
    const order = { act, terms: readTerms(body) };
    return await reply.send(describeDispute(await decideByHand(deps, idOf(request), order)));
  });
  app.post('/control/disputes/:id/withdraw', async (request, reply) => {
    const order = { act: 'withdraw' as const, terms: { returnedCents: null, nature: null } };
    return await reply.send(describeDispute(await decideByHand(deps, idOf(request), order)));
  });
}

function readTerms(body: {
  returned_amount?: number | null | undefined;
  natureza?: string | null | undefined;
}): LostTerms {
  const { returned_amount: returned, natureza } = body;
  return {
    returnedCents: returned === null || returned === undefined ? null : BigInt(returned),
    nature: natureza ?? null,
  };
}

/** @throws AppError `NOT_FOUND` for an id that could be nobody's */
function idOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string };
  if (!z.guid().safeParse(id).success) throw new AppError('NOT_FOUND');
  return id;
}
