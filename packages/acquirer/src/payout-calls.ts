import type {
  AcquirerPayout,
  BalanceOutcome,
  CallOptions,
  Lookup,
  PayoutToSend,
  SendOutcome,
} from './acquirer.ts';
import { formatAmountText } from './amount-text.ts';
import { BalanceAnswer } from './answer-schemas.ts';
import { type CallAcquirer, UNREADABLE } from './call-acquirer.ts';
import { documentField } from './document-field.ts';
import { lookUp } from './look-up.ts';
import { readSendAnswer, readSentPix } from './read-sent.ts';

/**
 * Orders a Pix under our own idEnvio, which the acquirer takes once for ever: the same order again, however
 * often, never pays twice. Its answer `id_envio_duplicado` is an unknown outcome, which `getPayout` resolves.
 */
export async function sendPayout(
  deps: { call: CallAcquirer; pixKey: string },
  input: PayoutToSend,
  options: CallOptions | undefined,
): Promise<SendOutcome> {
  const result = await deps.call({
    operation: 'sendPayout',
    method: 'PUT',
    path: `/v3/gn/pix/${encodeURIComponent(input.idEnvio)}`,
    body: sendBody(input, deps.pixKey),
    options,
  });
  if (result.kind === 'not_found') return UNREADABLE;
  if (result.kind !== 'done') return result;
  const payout = readSendAnswer(result.body, input.idEnvio);
  return payout === null ? UNREADABLE : { kind: 'accepted', payout };
}

export async function getPayout(
  call: CallAcquirer,
  idEnvio: string,
  options: CallOptions | undefined,
): Promise<Lookup<AcquirerPayout>> {
  return await lookUp(call, {
    operation: 'getPayout',
    path: `/v2/gn/pix/enviados/id-envio/${encodeURIComponent(idEnvio)}`,
    read: (body) => readSentPix(body, idEnvio),
    options,
  });
}

export async function readBalance(
  call: CallAcquirer,
  options: CallOptions | undefined,
): Promise<BalanceOutcome> {
  const path = '/v2/gn/saldo';
  const result = await call({ operation: 'balance', method: 'GET', path, options });
  if (result.kind === 'unknown') return result;
  if (result.kind !== 'done') return UNREADABLE;
  const { data } = BalanceAnswer.safeParse(result.body);
  return data === undefined ? UNREADABLE : { kind: 'found', amountCents: data.saldo };
}

function sendBody(input: PayoutToSend, pixKey: string): object {
  const { recipientDocument, description } = input;
  return {
    valor: formatAmountText(input.amountCents),
    pagador: { chave: pixKey, ...(description !== null && { infoPagador: description }) },
    favorecido: {
      chave: input.pixKey,
      ...(recipientDocument !== null && documentField(recipientDocument)),
    },
  };
}
