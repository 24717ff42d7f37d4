import { assertNever } from '@pixmesh/kernel/app-error';
import { codePointLength, DEFENSE_LENGTH_MAX } from '@pixmesh/kernel/text';
import type { Database } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { apiPixError, type ProviderError } from '#api-pix/provider-error.ts';
import { readBody, readShape } from '#api-pix/read-body.ts';
import { describeWindow, readWindow } from '#api-pix/window.ts';
import type { Provider } from '#faults/provider.ts';

import { toDisputeResource } from './dispute-resource.ts';
import { listDisputes } from './disputes.sql.ts';
import { defendDispute } from './move-dispute.ts';

const DisputeParams = z.object({ id: z.string().max(64) });

/** Body of `POST /v2/gn/infracoes/{id}/defesa`. Unknown fields are ignored. */
const DefenseBody = z.object({
  analise: z.enum(['aceito', 'rejeitado']),
  justificativa: z
    .string()
    .min(1)
    .refine((text) => codePointLength(text) <= DEFENSE_LENGTH_MAX),
});

type Deps = { db: Database };

/** `GET /v2/gn/infracoes?inicio&fim` by the time of opening, and the receiver's defense. */
export function addDisputes(provider: Provider, deps: Deps): void {
  provider.get('/v2/gn/infracoes', 'listDisputes', async (request) => {
    const window = readWindow(request.query);
    const { rows, total } = await listDisputes(deps.db, window);
    const infracoes = rows.map(toDisputeResource);
    return { status: 200, body: { parametros: describeWindow(window, total), infracoes } };
  });
  provider.post('/v2/gn/infracoes/:id/defesa', 'submitDefense', async (request) => {
    const { id } = readShape(DisputeParams, request.params, 'InfracoesConsultaInvalida');
    const defense = readBody(DefenseBody, request, 'InfracoesConsultaInvalida');
    if (!z.guid().safeParse(id).success) throw refusalOf('not_found');
    const outcome = await defendDispute(deps.db, id, defense);
    if (outcome !== 'received') throw refusalOf(outcome);
    return { status: 201, body: 'Defesa de infração MED criada' };
  });
}

function refusalOf(kind: 'not_found' | 'repeated' | 'conflict' | 'late'): ProviderError {
  switch (kind) {
    case 'not_found':
      return apiPixError('InfracaoNaoEncontrada', 404);
    case 'repeated':
      return invalid(409, 'A defesa para essa infração já foi criada.');
    case 'conflict':
      return invalid(422, 'A infração não aceita mais defesa.');
    case 'late':
      return invalid(422, 'O prazo para defesa foi excedido.');
    default:
      return assertNever(kind);
  }
}

function invalid(status: number, razao: string): ProviderError {
  const violacoes = [{ razao, propriedade: 'body.infractionId' }];
  return apiPixError('InfracaoOperacaoInvalida', status, { detail: razao, violacoes });
}
