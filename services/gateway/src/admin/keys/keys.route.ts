import { ListKeysInUseQuery, ListKeysQuery } from '@pixmesh/contracts/admin/admin-queries';
import { answerCreated } from '@pixmesh/http/answer-created';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { ignoreBodies } from '@pixmesh/http/service-app';
import type { ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import { findApplication } from '../applications/applications.sql.ts';
import { found, requirePathId } from '../read-request.ts';
import { changeKey, removeKey } from './change-key.ts';
import { createKey, type KeyDeps } from './create-key.ts';
import { toKeyResource } from './key-resource.ts';
import { findStoredKey, listKeys, listKeysInUse } from './keys.sql.ts';

/**
 * `/admin/applications/{id}/keys`, `/admin/keys` and `/admin/keys/{id}`: the 201 of a first call alone carries `key`.
 */
export function registerKeys(app: FastifyInstance, deps: KeyDeps): void {
  const { db } = deps;
  app.post('/admin/applications/:id/keys', async (request, reply) => {
    const outcome = await createKey(deps, request);
    const secret = outcome.key === null ? {} : { key: outcome.key };
    return answerCreated(reply, outcome, { ...toKeyResource(outcome.stored), ...secret });
  });

  app.get('/admin/applications/:id/keys', async (request) => {
    const page = readListQuery(ListKeysQuery, request.query);
    const application = found(await findApplication(db, requirePathId(request) as ApplicationId));
    return await answerList({
      page,
      fetch: (limit) => listKeys(db, application.id, { ...page, limit }),
      cursorExists: async (id) =>
        (await findStoredKey(db, id as ApiKeyId))?.applicationId === application.id,
      toResource: toKeyResource,
    });
  });

  app.get('/admin/keys', async (request) => {
    const page = readListQuery(ListKeysInUseQuery, request.query);
    const pepperVersion = deps.pepper.version;
    return await answerList({
      page,
      fetch: (limit) => listKeysInUse(db, { ...page, limit, pepperVersion }),
      cursorExists: async (id) => (await findStoredKey(db, id as ApiKeyId)) !== null,
      toResource: toKeyResource,
    });
  });

  app.patch('/admin/keys/:id', (request) => changeKey(deps, request));

  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.delete('/admin/keys/:id', async (request, reply) => {
      await removeKey(deps, request);
      return reply.code(204).send();
    });
  });
}
