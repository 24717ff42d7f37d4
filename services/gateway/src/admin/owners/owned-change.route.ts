import { ignoreBodies } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from './call-owner.ts';
import { changeOwned, type OwnedChange } from './change-owned.ts';

type Route = {
  /** POST unless it says otherwise. */
  method?: 'PATCH';
  url: `/admin/${string}`;
  /** What is sent to other routes is thrown away. */
  takesBody?: true;
};

/** A route of operators by which they change what another service owns. */
export function registerOwnedChange<Schema extends z.ZodType<{ id: string }>>(
  app: FastifyInstance,
  deps: OwnerAndTablesDeps,
  { method, url, takesBody, ...change }: Route & OwnedChange<Schema>,
): void {
  app.register(async (routes) => {
    if (!takesBody) ignoreBodies(routes);
    routes.route({
      method: method ?? 'POST',
      url,
      handler: async (request, reply) =>
        relayAnswer(reply, await changeOwned(deps, request, change)),
    });
  });
}
