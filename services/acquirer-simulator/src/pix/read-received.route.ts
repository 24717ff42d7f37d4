import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { apiPixError } from '#api-pix/provider-error.ts';
import { readShape } from '#api-pix/read-body.ts';
import { describeWindow, readWindow } from '#api-pix/window.ts';
import type { WithFaults } from '#faults/with-faults.ts';

import { toPixResource } from './pix-resource.ts';
import { findReceivedPix, listReceivedPix } from './received-pix.sql.ts';

const EndToEndIdParams = z.object({ e2eid: z.string().max(64) });

type Deps = { db: Queryable; withFaults: WithFaults };

/** `GET /v2/pix/{e2eid}` and `GET /v2/pix?inicio&fim`. */
export function addReadReceived(app: FastifyInstance, deps: Deps): void {
  app.get(
    '/v2/pix/:e2eid',
    deps.withFaults('getReceived', async (request) => {
      const { e2eid } = readShape(EndToEndIdParams, request.params);
      const pix = await findReceivedPix(deps.db, e2eid);
      if (pix === null) throw apiPixError('PixNaoEncontrado', 404);
      return { status: 200, body: toPixResource(pix) };
    }),
  );
  app.get(
    '/v2/pix',
    deps.withFaults('listReceived', async (request) => {
      const window = readWindow(request.query);
      const { rows, total } = await listReceivedPix(deps.db, window);
      const body = { parametros: describeWindow(window, total), pix: rows.map(toPixResource) };
      return { status: 200, body };
    }),
  );
}
