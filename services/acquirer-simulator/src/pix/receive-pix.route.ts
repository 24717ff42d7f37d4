import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { readControlBody } from '#control/read-control-body.ts';
import type { Faults } from '#faults/faults.ts';

import { PayBody } from './pay-charge.route.ts';
import { receivePix } from './receive-pix.ts';

const ArrivalBody = PayBody.extend({
  amount: z.int().min(1).max(Number(AMOUNT_CENTS_MAX)),
  txid: z
    .string()
    .regex(/^[a-zA-Z0-9]{1,35}$/)
    .nullish(),
  chave: z
    .string()
    .regex(/^[!-~]{1,77}$/)
    .nullish(),
});

type Deps = {
  db: Database;
  faults: Faults;
  pixKey: string;
  /** Wakes the sender: notices were queued. */
  wakeCallbacks: () => void;
};

/** `POST /control/pix`: money arrives without a charge: no txid, one that nobody knows, or another key. */
export function addReceivePix(app: FastifyInstance, deps: Deps): void {
  app.post('/control/pix', async (request, reply) => {
    const body = readControlBody(ArrivalBody, request.body);
    const { pix, repeated, notices } = await receivePix(deps, {
      amountCents: BigInt(body.amount),
      txid: body.txid ?? null,
      pixKey: body.chave ?? deps.pixKey,
      endToEndId: body.end_to_end_id ?? null,
      paidAt: body.paid_at ?? null,
      times: body.times,
    });
    deps.wakeCallbacks();
    return await reply.code(repeated ? 200 : 201).send({
      end_to_end_id: pix.endToEndId,
      txid: pix.txid,
      chave: pix.pixKey,
      amount: Number(pix.amountCents),
      paid_at: pix.paidAt.toISOString(),
      repeated,
      notices,
    });
  });
}
