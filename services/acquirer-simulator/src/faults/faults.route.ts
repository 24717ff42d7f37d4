import type { FastifyInstance } from 'fastify';

import { readControlBody } from '#control/read-control-body.ts';

import { FaultScript, NO_FAULTS } from './fault-script.ts';
import type { Faults } from './faults.ts';

type Deps = {
  faults: Faults;
  /** Releases what an earlier script keeps from settling. */
  releaseHeld: () => Promise<void>;
};

/**
 * `/control/faults`: what goes wrong from now on. `PUT` and `DELETE` replace everything; a script that was added is
 * removed by its id, so that several clients disturb each other as little as their filters allow.
 */
export function addFaults(app: FastifyInstance, deps: Deps): void {
  const { faults } = deps;
  app.get('/control/faults', async (_request, reply) => await reply.send(faults.scripts()));
  app.put('/control/faults', async (request, reply) => {
    await faults.replace(readControlBody(FaultScript, request.body));
    await deps.releaseHeld();
    return await reply.send(faults.scripts());
  });
  app.delete('/control/faults', async (_request, reply) => {
    await faults.replace(NO_FAULTS);
    await deps.releaseHeld();
    return await reply.code(204).send();
  });
  app.post('/control/faults', async (request, reply) => {
    const added = await faults.add(readControlBody(FaultScript, request.body));
    return await reply.code(201).send(added);
  });
  app.delete<{ Params: { id: string } }>('/control/faults/:id', async ({ params }, reply) => {
    await faults.remove(params.id);
    await deps.releaseHeld();
    return await reply.code(204).send();
  });
}
