import type { Queryable } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { apiPixError } from '#api-pix/provider-error.ts';
import { readShape } from '#api-pix/read-body.ts';
import { describeWindow, readWindow } from '#api-pix/window.ts';
import type { Provider } from '#faults/provider.ts';

import { toPixResource } from './pix-resource.ts';
import { findReceivedPix, listReceivedPix } from './received-pix.sql.ts';

/** A filter of the list by whether a Pix has returns; lists of everything else have none. */
const ReturnedQuery = z.object({
  devolucaoPresente: z.enum(['true', 'false']).optional(),
});
const EndToEndIdParams = z.object({ e2eid: z.string().max(64) });

type Deps = { db: Queryable };

/** `GET /v2/pix/{e2eid}` and `GET /v2/pix?inicio&fim`. */
export function addReadReceived(provider: Provider, deps: Deps): void {
  provider.get('/v2/pix/:e2eid', 'getReceived', async (request) => {
    const { e2eid } = readShape(EndToEndIdParams, request.params);
    const pix = await findReceivedPix(deps.db, e2eid);
    if (pix === null) throw apiPixError('PixNaoEncontrado', 404);
    return { status: 200, body: toPixResource(pix) };
  });
  provider.get('/v2/pix', 'listReceived', async (request) => {
    const window = readWindow(request.query);
    const { devolucaoPresente } = readShape(ReturnedQuery, request.query);
    const isReturned = devolucaoPresente === undefined ? null : devolucaoPresente === 'true';
    const { rows, total } = await listReceivedPix(deps.db, { ...window, isReturned });
    const body = { parametros: describeWindow(window, total), pix: rows.map(toPixResource) };
    return { status: 200, body };
  });
}
