import { readBody } from '#api-pix/read-body.ts';
import type { Clock } from '#clock/clock.ts';
import type { Provider } from '#faults/provider.ts';
import { findReceivedPixes } from '#pix/received-pix.sql.ts';
import { findSendsByEndToEndIds } from '#sends/sends.sql.ts';

import { storeCallbacks } from '#callbacks/callbacks.sql.ts';
import { announce, type ChangeDeps } from '#callbacks/announce.ts';
import { ResendBody } from './resend-body.ts';
import { selectResentItems } from './select-resent-items.ts';

type Deps = ChangeDeps & { clock: Clock };

/** `POST /v2/gn/webhook/reenviar`: announces what is known already once more; faults of callbacks hold for it too. */
export function addResendCallbacks(provider: Provider, deps: Deps): void {
  provider.post('/v2/gn/webhook/reenviar', null, async (request) => {
    const { tipo, e2eids } = readBody(ResendBody, request);
    const found = {
      received: await findReceivedPixes(deps.db, e2eids),
      sent: await findSendsByEndToEndIds(deps.db, e2eids),
    };
    const items = selectResentItems(tipo, found, deps.clock.now());
    await storeCallbacks(deps.db, await announce(deps, items));
    deps.wakeCallbacks();
    return { status: 202, body: null };
  });
}
