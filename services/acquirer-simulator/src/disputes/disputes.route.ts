import { codePointLength, DEFENSE_LENGTH_MAX } from '@pixmesh/kernel/text';
import type { Database } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { apiPixError, efiError, type ProviderError } from '#api-pix/provider-error.ts';
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
    const { id } = readShape(DisputeParams, request.params);
    const defense = readBody(DefenseBody, request);
    if (!z.guid().safeParse(id).success) throw refusalOf('not_found');
    const outcome = await defendDispute(deps.db, id, defense);
    if (outcome.kind !== 'received') throw refusalOf(outcome.kind);
    return { status: 201, body: toDisputeResource(outcome.dispute) };
  });
}

function refusalOf(kind: 'not_found' | 'conflict' | 'late'): ProviderError {
  if (kind === 'not_found') return apiPixError('InfracaoNaoEncontrada', 404);
  if (kind === 'late') {
    return efiError(400, 'prazo_defesa_encerrado', 'O prazo para a defesa da infração terminou');
  }
  return efiError(400, 'infracao_finalizada', 'A infração não aceita mais defesa');
}
