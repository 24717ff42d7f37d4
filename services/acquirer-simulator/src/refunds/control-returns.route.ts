import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import type { ChangeDeps } from '#callbacks/announce.ts';
import { Cents, Nature, orNull, PixId } from '#control/control-fields.ts';
import { readControlBody } from '#control/read-control-body.ts';
import { returnSendByHand } from '#sends/move-send-by-hand.ts';

import { returnReceivedByHand } from './return-pix.ts';

const ReturnBody = z.object({ amount: orNull(Cents), natureza: Nature.default('ORIGINAL') });
type ReturnBody = z.output<typeof ReturnBody>;

/**
 * `POST /control/pix/{e2e}/returns`: money comes back of an order that has settled, or goes back of a Pix that
 * was received. An order's idEnvio or payout id is as good as its end-to-end id.
 */
export function addControlReturns(app: FastifyInstance, deps: ChangeDeps): void {
  app.post('/control/pix/:id/returns', async (request, reply) => {
    const id = PixId.safeParse((request.params as { id: string }).id);
    const body = readControlBody(ReturnBody, request.body);
    if (!id.success) throw new AppError('NOT_FOUND');
    return await reply.code(201).send(await makeReturn(deps, id.data, body));
  });
}

async function makeReturn(deps: ChangeDeps, id: string, body: ReturnBody): Promise<object> {
  const { natureza } = body;
  const asked = { amountCents: body.amount, nature: natureza };
  const sent = await returnSendByHand(deps, id, asked);
  const { item, pix } = sent
    ? { item: sent.item, pix: { ...sent.send, txid: null } }
    : await returnReceived(deps, id, asked);
  return {
    id: item.id,
    return_id: item.returnId,
    end_to_end_id: pix.endToEndId,
    id_envio: pix.idEnvio,
    txid: pix.txid,
    amount: Number(item.amountCents),
    natureza,
  };
}

async function returnReceived(
  deps: ChangeDeps,
  id: string,
  asked: { amountCents: bigint | null; nature: string },
) {
  const { item, pix } = await returnReceivedByHand(deps, id, asked);
  return { item, pix: { ...pix, idEnvio: null } };
}
