import { parseShape, readJsonObject } from '@pixmesh/http/json-request';
import { rawBody } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

/** `manual`: nothing is paid or refused unless asked. The only profile so far, hence nothing to store. */
const Profile = z.object({ name: z.literal('manual') });

export function addSetProfile(app: FastifyInstance): void {
  app.put('/control/profile', async (request, reply) => {
    const body = readJsonObject(rawBody(request.body), request.headers['content-type']);
    return await reply.send(parseShape(Profile, body));
  });
}
