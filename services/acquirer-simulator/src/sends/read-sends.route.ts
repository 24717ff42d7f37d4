import type { Queryable } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import type { ProviderAnswer } from '#api-pix/provider-answer.ts';
import { apiPixError } from '#api-pix/provider-error.ts';
import { readShape } from '#api-pix/read-body.ts';
import { describeWindow, readWindow } from '#api-pix/window.ts';
import type { Provider } from '#faults/provider.ts';

import { IdEnvioParams } from './send-body.ts';
import { type StoredSend, toSendResource } from './send-resource.ts';
import { findSendByEndToEndId, listSends, type SendReads } from './sends.sql.ts';

const EndToEndIdParams = z.object({ e2eid: z.string().max(64) });

type Deps = { db: Queryable; sendReads: SendReads };

/** Look-ups of a sent Pix by either of its ids, and the list by the time of the order. */
export function addReadSends(provider: Provider, deps: Deps): void {
  provider.get('/v2/gn/pix/enviados/id-envio/:idEnvio', 'getPayout', async (request) => {
    const { idEnvio } = readShape(IdEnvioParams, request.params);
    return answerSend(await deps.sendReads.submit(idEnvio), 'idEnvio');
  });
  provider.get('/v2/gn/pix/enviados/:e2eid', 'getPayout', async (request) => {
    const { e2eid } = readShape(EndToEndIdParams, request.params);
    return answerSend(await findSendByEndToEndId(deps.db, e2eid), 'e2eId');
  });
  provider.get('/v2/gn/pix/enviados', 'listSent', async (request) => {
    const window = readWindow(request.query);
    const { rows, total } = await listSends(deps.db, window);
    const body = { parametros: describeWindow(window, total), pix: rows.map(toSendResource) };
    return { status: 200, body };
  });
}

function answerSend(send: StoredSend | null, by: string): ProviderAnswer {
  if (send !== null) return { status: 200, body: toSendResource(send) };
  const detail = `Pix enviado não encontrado para o ${by} informado.`;
  throw apiPixError('PixEnviadoNaoEncontrado', 404, { detail });
}
