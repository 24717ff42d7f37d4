import { toAcquirerId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import type { ChangeDeps } from '#callbacks/announce.ts';
import { Cents, orNull, PixId } from '#control/control-fields.ts';
import { ControlTime } from '#control/control-time.ts';
import { readControlBody } from '#control/read-control-body.ts';

import { type PayDeps, payCharge } from './pay-charge.ts';
import { receivePix } from './receive-pix.ts';
import type { PaidPix } from './record-arrival.ts';

const TIMES_MAX = 100;

/** What a payer may say of a Pix. */
const PayBody = z.object({
  amount: orNull(Cents),
  end_to_end_id: orNull(PixId),
  paid_at: orNull(ControlTime),
  times: z.int().min(1).max(TIMES_MAX).default(1),
});

const ArrivalBody = PayBody.extend({
  amount: Cents,
  txid: orNull(z.string().regex(/^[a-zA-Z0-9]{1,35}$/)),
  chave: orNull(z.string().regex(/^[!-~]{1,77}$/)),
});

/** How money arrives: a payer pays a charge, or somebody sends a Pix that names none. */
export function addControlArrivals(app: FastifyInstance, deps: ChangeDeps & PayDeps): void {
  /** The charge's id is as good as its txid. */
  app.post('/control/charges/:txid/pay', async (request, reply) => {
    const { txid } = request.params as { txid: string };
    const { amount: amountCents, ...body } = readControlBody(PayBody, request.body);
    const payment = { txid: toAcquirerId(txid), amountCents, ...saidOf(body) };
    const paid = await payCharge(deps, payment);
    deps.wakeCallbacks();
    return await reply.send(describe(paid));
  });
  /** No txid, one that nobody knows, or another key. */
  app.post('/control/pix', async (request, reply) => {
    const {
      amount: amountCents,
      txid,
      chave,
      ...body
    } = readControlBody(ArrivalBody, request.body);
    const arrival = { amountCents, txid, pixKey: chave ?? deps.pixKey, ...saidOf(body) };
    const paid = await receivePix(deps, arrival);
    deps.wakeCallbacks();
    return await reply
      .code(paid.repeated ? 200 : 201)
      .send(describe(paid, { chave: paid.pix.pixKey }));
  });
}

function saidOf(body: Omit<z.output<typeof PayBody>, 'amount'>) {
  return { endToEndId: body.end_to_end_id, paidAt: body.paid_at, times: body.times };
}

function describe({ pix, repeated, notices }: PaidPix, receiver: { chave?: string } = {}): object {
  return {
    end_to_end_id: pix.endToEndId,
    txid: pix.txid,
    ...receiver,
    amount: Number(pix.amountCents),
    paid_at: pix.paidAt.toISOString(),
    repeated,
    notices,
  };
}
