import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import { efiError, type ProviderError } from '#api-pix/provider-error.ts';
import { readBody, readShape } from '#api-pix/read-body.ts';
import { readRefusedAmount } from '#api-pix/read-refused.ts';
import type { Clock } from '#clock/clock.ts';
import type { Faults } from '#faults/faults.ts';
import type { Provider } from '#faults/provider.ts';
import { addRefusal } from '#journal/journal.sql.ts';
import { newEndToEndId } from '#pix/end-to-end-id.ts';
import type { StoredProfile } from '#profile/profile.ts';
import type { StoredSetting } from '#settings/stored-setting.ts';

import { isDenied, planSend } from './decide-send.ts';
import { toRecipient } from './recipient.ts';
import { IdEnvioParams, SendBody } from './send-body.ts';
import { toSendAnswer } from './send-resource.ts';
import type { NewSends } from './new-sends.sql.ts';
import type { SendReads } from './sends.sql.ts';

type Deps = {
  db: Queryable;
  newSends: NewSends;
  sendReads: SendReads;
  faults: Faults;
  clock: Clock;
  profile: StoredSetting<StoredProfile>;
  pixKey: string;
  /** Notifies that something becomes due. */
  expectDue: (inMs: number) => void;
};

/** `PUT /v3/gn/pix/{idEnvio}`: one statement. An idEnvio is taken for ever; balance is never asked for. */
export function addSendPix(provider: Provider, deps: Deps): void {
  provider.put('/v3/gn/pix/:idEnvio', 'sendPayout', async (request) => {
    const { idEnvio } = readShape(IdEnvioParams, request.params);
    return { status: 201, body: await acceptSend(deps, idEnvio, readBody(SendBody, request)) };
  });
  provider.onRefused(
    'sendPayout',
    async (request) => await addRefusal(deps.db, readRefused(request)),
  );
}

async function acceptSend(deps: Deps, idEnvio: string, body: SendBody): Promise<object> {
  const profile = deps.profile.get().name;
  const refusal = findRefusal(body, { ownKey: deps.pixKey, denied: isDenied(profile, body.valor) });
  if (refusal !== null) throw await orDuplicate(deps.sendReads, idEnvio, refusal);
  // A repeated order must use up no fault.
  const asUsual = deps.faults.settlesAsUsual('settlePayout');
  if (!asUsual && (await deps.sendReads.submit(idEnvio)) !== null) throw duplicateIdEnvio();
  const names = { idEnvio, pixKey: body.favorecido.chave };
  const fault = await deps.faults.pick('settlePayout', () => names);
  const send = {
    endToEndId: newEndToEndId(deps.clock.now()),
    idEnvio,
    amountCents: body.valor,
    pixKey: body.pagador.chave,
    payerText: body.pagador.infoPagador ?? null,
    recipient: toRecipient(body.favorecido),
    requestedAt: null,
    plan: planSend(profile, body.valor, fault),
  };
  const stored = await deps.newSends.submit(send);
  if (stored === null) throw duplicateIdEnvio();
  if (send.plan.settlesInMs !== null) deps.expectDue(send.plan.settlesInMs);
  return toSendAnswer({ ...send, ...stored });
}

/** What is well formed and still refused, in Efí's words. */
function findRefusal(
  body: SendBody,
  facts: { ownKey: string; denied: boolean },
): ProviderError | null {
  if (body.valor === 0n) {
    return efiError(400, 'valor_invalido', 'Campo valor deve ser maior que zero');
  }
  if (body.pagador.chave !== facts.ownKey) {
    const message = 'A chave informada não faz referência à conta autenticada';
    return efiError(400, 'chave_invalida', message);
  }
  if (!facts.denied) return null;
  return efiError(422, 'pagamento_negado', 'Pagamento negado por análises');
}

/** A taken idEnvio is a duplicate before it is anything else: a refusal would deny an order that exists. */
async function orDuplicate(
  sendReads: SendReads,
  idEnvio: string,
  refusal: ProviderError,
): Promise<ProviderError> {
  return (await sendReads.submit(idEnvio)) === null ? refusal : duplicateIdEnvio();
}

function duplicateIdEnvio(): ProviderError {
  const message = 'O id de envio informado já foi utilizado em outro pagamento';
  return efiError(409, 'id_envio_duplicado', message);
}

/** What is known of a request that was refused. */
function readRefused(request: FastifyRequest) {
  const { data } = IdEnvioParams.safeParse(request.params);
  const amountCents = readRefusedAmount(request, ({ valor }) => valor);
  return { idEnvio: data?.idEnvio ?? null, amountCents };
}
