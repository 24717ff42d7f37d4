import type { FastifyInstance } from 'fastify';

import type { Listener } from '#reports.ts';

import type { IsTrustedProxy } from './addresses.ts';
import { boundConnections } from './bound-connections.ts';
import { enterClientAddress } from './client-address.ts';
import { endIdleUnauthenticated } from './idle-connections.ts';
import { stampAnswers } from './stamp-answers.ts';

/** What the installation says about its edge. */
export type Edge = {
  isTrusted: IsTrustedProxy;
  connectionsPerAddressMax: number;
  hstsMaxAgeSeconds: number | null;
  origins: ReadonlySet<string>;
};

/** What holds on each of the three listeners, before any route. */
export function guardListener(app: FastifyInstance, listener: Listener, edge: Edge): void {
  const { isTrusted, connectionsPerAddressMax: max } = edge;
  stampAnswers(app, edge.hstsMaxAgeSeconds);
  boundConnections(app, { listener, max, isTrusted });
  endIdleUnauthenticated(app, { isTrusted });
  enterClientAddress(app, isTrusted);
}
