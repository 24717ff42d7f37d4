import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import type { ChangeDeps } from '#callbacks/announce.ts';
import { LOCATION_HOST } from '#charges/location.ts';
import { readControlBody } from '#control/read-control-body.ts';
import { type PayDeps, payCharge } from '#pix/pay-charge.ts';

import { readChargeByCode } from './read-charge.ts';

const PaymentBody = z.object({ br_code: z.string() });

/**
 * `POST /control/payments`: somebody pays by the text of a BR Code alone. Everything about the charge comes from its
 * payload, which is fetched over HTTP from this listener: a charge whose code leads nowhere cannot be paid so.
 */
export function addPayBrCode(app: FastifyInstance, deps: ChangeDeps & PayDeps): void {
  const originOf = (host: string) => (host === LOCATION_HOST ? app.listeningOrigin : null);
  app.post('/control/payments', async (request, reply) => {
    const { br_code } = readControlBody(PaymentBody, request.body);
    const { txid, amountCents, payload } = await readChargeByCode(originOf, br_code.trim());
    const payment = { txid, amountCents, endToEndId: null, paidAt: null, times: 1 };
    const { pix, notices } = await payCharge(deps, payment);
    deps.wakeCallbacks();
    return await reply.code(201).send({
      end_to_end_id: pix.endToEndId,
      txid,
      amount: Number(pix.amountCents),
      paid_at: pix.paidAt.toISOString(),
      notices,
      payload,
    });
  });
}
