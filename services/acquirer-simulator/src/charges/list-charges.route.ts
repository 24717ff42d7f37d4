import type { Queryable } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { BOTH_DOCUMENTS, DOCUMENT_FILTERS, Flag, hasOneDocument } from '#api-pix/list-filters.ts';
import { readShape } from '#api-pix/read-body.ts';
import { describeWindow, readWindow } from '#api-pix/window.ts';
import type { Provider } from '#faults/provider.ts';

import { toChargeResource } from './charge-resource.ts';
import { listCharges } from './charges.sql.ts';

const FilterQuery = z
  .object({
    ...DOCUMENT_FILTERS,
    /** Every charge here has a location. */
    locationPresente: Flag.optional(),
    status: z.string().optional(),
  })
  .refine(hasOneDocument, BOTH_DOCUMENTS);

/** `GET /v2/cob?inicio&fim` by the time of issuing. */
export function addListCharges(provider: Provider, deps: { db: Queryable }): void {
  provider.get('/v2/cob', null, async (request) => {
    const window = readWindow(request.query, 'CobConsultaInvalida');
    const filters = readShape(FilterQuery, request.query, 'CobConsultaInvalida');
    const { rows, total } = await listCharges(deps.db, { ...window, ...filters });
    const parametros = describeWindow(window, total, filters);
    return { status: 200, body: { parametros, cobs: rows.map(toChargeResource) } };
  });
}
