import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { apiPixError, efiError } from '#api-pix/provider-error.ts';
import { readShape } from '#api-pix/read-body.ts';
import type { WithFaults } from '#faults/with-faults.ts';

import { toPixResource } from './pix-resource.ts';
import { findReceivedPix, listReceivedPix } from './received-pix.sql.ts';

const ITEMS_DEFAULT = 100;
const ITEMS_MAX = 1_000;
const PAGE_MAX = 1_000_000;

const EndToEndIdParams = z.object({ e2eid: z.string().max(64) });

const Instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const WindowQuery = z.object({
  inicio: Instant,
  fim: Instant,
  'paginacao.paginaAtual': z.coerce.number().int().min(0).max(PAGE_MAX).default(0),
  'paginacao.itensPorPagina': z.coerce.number().int().min(1).max(ITEMS_MAX).default(ITEMS_DEFAULT),
});

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
    deps.withFaults('listReceived', async (request) => ({
      status: 200,
      body: await readWindow(deps.db, readShape(WindowQuery, request.query)),
    })),
  );
}

async function readWindow(db: Queryable, query: z.output<typeof WindowQuery>): Promise<object> {
  const { inicio, fim } = query;
  if (fim < inicio) {
    const message = 'Campo de data fim deve ser maior ou igual ao campo de data inicio';
    throw efiError(400, 'valor_invalido', message);
  }
  const paginaAtual = query['paginacao.paginaAtual'];
  const itensPorPagina = query['paginacao.itensPorPagina'];
  const offset = paginaAtual * itensPorPagina;
  const window = { from: inicio, to: fim, offset, limit: itensPorPagina };
  const { pix, total } = await listReceivedPix(db, window);
  return {
    parametros: {
      inicio: inicio.toISOString(),
      fim: fim.toISOString(),
      paginacao: {
        paginaAtual,
        itensPorPagina,
        quantidadeDePaginas: Math.ceil(total / itensPorPagina),
        quantidadeTotalDeItens: total,
      },
    },
    pix: pix.map(toPixResource),
  };
}
