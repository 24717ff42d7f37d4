import { rawBody } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { readControlBody } from '#control/read-control-body.ts';

/** `manual`: nothing is paid or refused unless asked. The only profile so far, hence nothing to store. */
const Profile = z.object({ name: z.literal('manual') });

export function addSetProfile(app: FastifyInstance): void {
  app.put('/control/profile', async (request, reply) => {
    return await reply.send(readControlBody(Profile, rawBody(request.body)));
  });
}
