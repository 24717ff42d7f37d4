import type { Queryable } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { BOTH_DOCUMENTS, DOCUMENT_FILTERS, Flag, hasOneDocument } from '#api-pix/list-filters.ts';
import { apiPixError } from '#api-pix/provider-error.ts';
import { readShape } from '#api-pix/read-body.ts';
import { describeWindow, readWindow } from '#api-pix/window.ts';
import type { Provider } from '#faults/provider.ts';

import { toPixResource } from './pix-resource.ts';
import { findReceivedPix, listReceivedPix } from './received-pix.sql.ts';

const FilterQuery = z
  .object({
    ...DOCUMENT_FILTERS,
    txid: z
      .string()
      .regex(/^[a-zA-Z0-9]{1,35}$/)
      .optional(),
    txIdPresente: Flag.optional(),
    devolucaoPresente: Flag.optional(),
  })
  .refine(hasOneDocument, BOTH_DOCUMENTS);

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
    const window = readWindow(request.query, 'PixConsultaInvalida');
    const filters = readShape(FilterQuery, request.query, 'PixConsultaInvalida');
    const { rows, total } = await listReceivedPix(deps.db, { ...window, ...filters });
    const parametros = describeWindow(window, total, filters);
    return { status: 200, body: { parametros, pix: rows.map(toPixResource) } };
  });
}
