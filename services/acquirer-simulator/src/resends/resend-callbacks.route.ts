import type { FastifyInstance } from 'fastify';

import { readBody } from '#api-pix/read-body.ts';
import type { Clock } from '#clock/clock.ts';
import type { WithFaults } from '#faults/with-faults.ts';
import { findReceivedPixes } from '#pix/received-pix.sql.ts';
import { findSendsByEndToEndIds } from '#sends/sends.sql.ts';

import { storeCallbacks } from '#callbacks/callbacks.sql.ts';
import { announce, type ChangeDeps } from '#callbacks/announce.ts';
import { ResendBody } from './resend-body.ts';
import { selectResentItems } from './select-resent-items.ts';

type Deps = ChangeDeps & { withFaults: WithFaults; clock: Clock };

/** `POST /v2/gn/webhook/reenviar`: announces what is known already once more; faults of callbacks hold for it too. */
export function addResendCallbacks(app: FastifyInstance, deps: Deps): void {
  app.post(
    '/v2/gn/webhook/reenviar',
    deps.withFaults(null, async (request) => {
      const { tipo, e2eids } = readBody(ResendBody, request);
      const found = {
        received: await findReceivedPixes(deps.db, e2eids),
        sent: await findSendsByEndToEndIds(deps.db, e2eids),
      };
      const items = selectResentItems(tipo, found, deps.clock.now());
      await storeCallbacks(deps.db, await announce(deps, items));
      deps.wakeCallbacks();
      return { status: 202, body: null };
    }),
  );
}
