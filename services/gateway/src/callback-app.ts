import { createServiceApp, EDGE_HEADER_BYTES_MAX, fixedTls } from '@pixmesh/http/service-app';
import type { TlsIdentity } from '@pixmesh/service/tls-identity';
import type { RotatableSecret } from '@pixmesh/service/rotatable-secret';
import type { FastifyInstance } from 'fastify';

import { countRefusedHandshakes } from '#callbacks/count-refused-handshakes.ts';
import type { CallbackDeps } from '#callbacks/receive-callback.ts';
import { registerReceiveCallback } from '#callbacks/receive-callback.route.ts';
import { createKeepUnusable } from '#callbacks/keep-unusable.ts';
import { type Edge, guardListener } from '#edge/guard-listener.ts';
import { countUnauthorized } from '#reports.ts';
import { requestIdOf } from '#edge/stamp-answers.ts';

/** An acquirer groups items, so its bodies may be larger than a merchant's. */
const CALLBACK_BYTES_MAX = 1024 * 1024;

type Deps = Omit<CallbackDeps, 'keepUnusable'> & {
  secrets: RotatableSecret<string>;
  /** Where it is set, a caller without a certificate of its authority ends at the handshake. */
  tls: TlsIdentity | null;
  edge: Edge;
};

/** Listener 3: what the acquirer calls. */
export function buildCallbackApp(deps: Deps): FastifyInstance {
  const app = createServiceApp({
    logger: deps.logger,
    listener: 'callbacks',
    headerBytesMax: EDGE_HEADER_BYTES_MAX,
    requestIdOf: (_request, reply) => requestIdOf(reply),
    bodyBytesMax: CALLBACK_BYTES_MAX,
    ...(deps.tls && { mutualTls: fixedTls(deps.tls) }),
  });
  guardListener(app, 'callbacks', deps.edge);
  countRefusedHandshakes(app, () => countUnauthorized('callbacks'));
  const keepUnusable = createKeepUnusable({ logger: deps.logger, now: () => performance.now() });
  registerReceiveCallback(app, { ...deps, keepUnusable });
  return app;
}
