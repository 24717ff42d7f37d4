import { toAcquirerId } from '@pixmesh/kernel/ids';
import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { ControlTime } from '#control/control-time.ts';
import { readControlBody } from '#control/read-control-body.ts';
import type { Faults } from '#faults/faults.ts';

import { payCharge } from './pay-charge.ts';

const TIMES_MAX = 100;

/** What a payer may say of a Pix. */
export const PayBody = z.object({
  /** Cents. */
  amount: z.int().min(1).max(Number(AMOUNT_CENTS_MAX)).nullish(),
  end_to_end_id: z
    .string()
    .regex(/^[!-~]{1,64}$/)
    .nullish(),
  paid_at: ControlTime.nullish(),
  times: z.int().min(1).max(TIMES_MAX).default(1),
});

type Deps = {
  db: Database;
  faults: Faults;
  /** Wakes the sender: notices were queued. */
  wakeCallbacks: () => void;
};

/** `POST /control/charges/{txid}/pay`: a payer pays now. The charge's id is as good as its txid. */
export function addPayCharge(app: FastifyInstance, deps: Deps): void {
  app.post('/control/charges/:txid/pay', async (request, reply) => {
    const { txid } = request.params as { txid: string };
    const body = readControlBody(PayBody, request.body);
    const { amount, end_to_end_id, paid_at, times } = body;
    const { pix, repeated, notices } = await payCharge(deps, {
      txid: toAcquirerId(txid),
      amountCents: amount === null || amount === undefined ? null : BigInt(amount),
      endToEndId: end_to_end_id ?? null,
      paidAt: paid_at ?? null,
      times,
    });
    deps.wakeCallbacks();
    return await reply.send({
      end_to_end_id: pix.endToEndId,
      txid: pix.txid,
      amount: Number(pix.amountCents),
      paid_at: pix.paidAt.toISOString(),
      repeated,
      notices,
    });
  });
}
