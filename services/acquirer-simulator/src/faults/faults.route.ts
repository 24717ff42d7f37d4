import { rawBody } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';

import { readControlBody } from '#control/read-control-body.ts';

import { FaultScript, NO_FAULTS } from './fault-script.ts';
import type { Faults } from './faults.ts';

type Deps = {
  faults: Faults;
  /** Lets go what an earlier script keeps from settling. */
  releaseHeld: () => Promise<void>;
};

/** `/control/faults`: what goes wrong from now on. A new script replaces the old one whole. */
export function addFaults(app: FastifyInstance, deps: Deps): void {
  app.get('/control/faults', async (_request, reply) => await reply.send(deps.faults.script()));
  app.put('/control/faults', async (request, reply) => {
    await deps.faults.replace(readControlBody(FaultScript, rawBody(request.body)));
    await deps.releaseHeld();
    return await reply.send(deps.faults.script());
  });
  app.delete('/control/faults', async (_request, reply) => {
    await deps.faults.replace(NO_FAULTS);
    await deps.releaseHeld();
    return await reply.code(204).send();
  });
}
