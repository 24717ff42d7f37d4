import type { FastifyInstance } from 'fastify';

import { readControlBody } from '#control/read-control-body.ts';
import type { StoredSetting } from '#settings/stored-setting.ts';

import { StoredProfile } from './profile.ts';

/** `PUT /control/profile`: whether amounts decide, from now on and across restarts. */
export function addSetProfile(
  app: FastifyInstance,
  deps: { profile: StoredSetting<StoredProfile> },
): void {
  app.put('/control/profile', async (request, reply) => {
    await deps.profile.set(readControlBody(StoredProfile, request.body));
    return await reply.send(deps.profile.get());
  });
}
