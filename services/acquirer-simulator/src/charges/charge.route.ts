import type { Queryable } from '@pixmesh/postgres/pool';

import { apiPixError, efiError } from '#api-pix/provider-error.ts';
import { readBody, readShape } from '#api-pix/read-body.ts';
import type { Provider } from '#faults/provider.ts';

import { RemovalBody, RevisionQuery, TxidParams } from './charge-body.ts';
import { type StoredCharge, toChargeResource } from './charge-resource.ts';
import { type ChargeReads, removeCharge } from './charges.sql.ts';

type Deps = { db: Queryable; chargeReads: ChargeReads };

/**
 * `GET /v2/cob/{txid}`: one statement, with everything paid to the charge. `PATCH` removes it while nobody has paid
 * it; the row arbitrates that race.
 */
export function addReadAndCancelCharge(provider: Provider, deps: Deps): void {
  provider.get('/v2/cob/:txid', 'getCharge', async (request) => {
    const { txid } = readShape(TxidParams, request.params);
    const charge = await deps.chargeReads.submit(txid);
    if (charge === null) throw apiPixError('CobNaoEncontrado', 404);
    checkRevision(readShape(RevisionQuery, request.query, 'CobConsultaInvalida').revisao, charge);
    return { status: 200, body: toChargeResource(charge) };
  });
  provider.patch('/v2/cob/:txid', 'cancelCharge', async (request) => {
    const { txid } = readShape(TxidParams, request.params);
    readBody(RemovalBody, request, 'CobOperacaoInvalida');
    const removed = await removeCharge(deps.db, txid);
    if (removed !== null) return { status: 200, body: toChargeResource(removed) };
    if ((await deps.chargeReads.submit(txid)) === null) throw apiPixError('CobNaoEncontrado', 404);
    throw efiError(400, 'status_cobranca_invalido', 'A cobrança não está mais com o status ATIVA');
  });
}

/** Only the newest revision is kept. */
function checkRevision(asked: number | undefined, { revision }: StoredCharge): void {
  if (asked === undefined || asked === revision) return;
  const razao =
    asked > revision ? 'A revisão não existe.' : 'Revisões anteriores não são simuladas.';
  const violacoes = [{ razao, propriedade: 'revisao' }];
  throw apiPixError('CobConsultaInvalida', 400, { detail: razao, violacoes });
}
