import { assertNever } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import { apiPixError, efiError, type ProviderError } from '#api-pix/provider-error.ts';
import { readBody, readShape } from '#api-pix/read-body.ts';
import { readRefusedAmount } from '#api-pix/read-refused.ts';
import type { Faults } from '#faults/faults.ts';
import type { Provider } from '#faults/provider.ts';
import { addRefusal } from '#journal/journal.sql.ts';
import { newReturnId } from '#pix/end-to-end-id.ts';
import { findReceivedPix, holdReceivedPix } from '#pix/received-pix.sql.ts';
import type { StoredProfile } from '#profile/profile.ts';
import type { StoredSetting } from '#settings/stored-setting.ts';

import { decideRefund, planRefund, type RefundDecision, type RefundPlan } from './decide-refund.ts';
import { RefundBody, RefundParams } from './refund-body.ts';
import { insertRefund } from './refunds.sql.ts';
import { type PixReturn, toReturnResource } from '#pix/return-resource.ts';

type Deps = {
  db: Database;
  faults: Faults;
  profile: StoredSetting<StoredProfile>;
  /** Notifies that something becomes due. */
  expectDue: (inMs: number) => void;
};

const PATH = '/v2/pix/:e2eid/devolucao/:id';

/** `PUT` and `GET /v2/pix/{e2eid}/devolucao/{id}`. An id is taken for ever within its Pix. */
export function addRefundPix(provider: Provider, deps: Deps): void {
  provider.put(PATH, 'refund', async (request) => {
    const { e2eid, id } = readShape(RefundParams, request.params);
    const body = readBody(RefundBody, request, 'PixDevolucaoInvalida');
    const { item, plan } = await acceptRefund(deps, { endToEndId: e2eid, id, body });
    if (plan.endsInMs !== null) deps.expectDue(plan.endsInMs);
    return { status: 201, body: toReturnResource(item) };
  });
  provider.onRefused('refund', async (request) => await addRefusal(deps.db, readRefused(request)));
  provider.get(PATH, 'getRefund', async (request) => {
    const { e2eid, id } = readShape(RefundParams, request.params);
    const pix = await findReceivedPix(deps.db, e2eid);
    if (pix === null) throw apiPixError('PixNaoEncontrado', 404);
    const item = pix.returns.find((found) => found.id === id);
    if (item === undefined) throw apiPixError('PixDevolucaoNaoEncontrada', 404);
    return { status: 200, body: toReturnResource(item) };
  });
}

/** Refunds of one Pix take turns on its row, so that their sum never exceeds it. */
async function acceptRefund(
  deps: Deps,
  order: { endToEndId: string; id: string; body: RefundBody },
): Promise<{ item: PixReturn; plan: RefundPlan }> {
  const { endToEndId, id, body } = order;
  return await deps.db.transaction(async (tx) => {
    const pix = await holdReceivedPix(tx, endToEndId);
    if (pix === null) throw apiPixError('PixNaoEncontrado', 404);
    const facts = { pix, isTooOld: pix.isTooOld };
    const decision = decideRefund(facts, { id, amountCents: body.valor });
    if (decision !== 'accept') throw refusalOf(decision);
    // Picked only now: a repeated or refused order must use up no fault.
    const fault = await deps.faults.pick('settleRefund', () => ({ endToEndId }));
    const profile = deps.profile.get().name;
    const plan = planRefund(fault, { profile, amountCents: body.valor });
    const accepted = {
      returnId: newReturnId(pix.readAt),
      id,
      amountCents: body.valor,
      nature: body.natureza,
      description: body.descricao ?? null,
      requestedAt: pix.readAt,
    };
    await insertRefund(tx, { ...accepted, endToEndId, plan });
    const item = {
      ...accepted,
      status: 'EM_PROCESSAMENTO' as const,
      reason: null,
      settledAt: null,
    };
    return { item, plan };
  });
}

function refusalOf(decision: Exclude<RefundDecision, 'accept'>): ProviderError {
  switch (decision) {
    case 'duplicate':
      return efiError(
        409,
        'devolucao_id_duplicado',
        'O id informado já foi utilizado em outra devolução deste Pix',
      );
    case 'amount_zero':
      return invalid('valor', 'O valor deve ser maior que zero.');
    case 'too_old':
      return invalid('e2eid', 'O Pix foi liquidado há mais de 90 dias.');
    case 'exceeds':
      return invalid('valor', 'A soma das devoluções excederia o valor do Pix.');
    default:
      return assertNever(decision);
  }
}

function invalid(propriedade: string, razao: string): ProviderError {
  const violacoes = [{ razao, propriedade }];
  return apiPixError('PixDevolucaoInvalida', 400, { detail: razao, violacoes });
}

/** What is known of a request that was refused. */
function readRefused(request: FastifyRequest) {
  const { e2eid } = request.params as { e2eid: string };
  const endToEndId = e2eid.length > 64 || e2eid.includes('\0') ? null : e2eid;
  return { endToEndId, amountCents: readRefusedAmount(request, ({ valor }) => valor) };
}
