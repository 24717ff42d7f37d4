import { formatAmountText } from '@pixmesh/acquirer/amount-text';

export type SendStatus = 'EM_PROCESSAMENTO' | 'REALIZADO' | 'NAO_REALIZADO';

/** Why the settlement system did not carry an order out. */
export type SendError = { codigo: string; origem: string; motivo: string };

export type StoredReturn = {
  returnId: string;
  id: string;
  amountCents: bigint;
  nature: string;
  returnedAt: Date;
};

/** An order as stored; `returns` are what the recipient sent back, oldest first. */
export type StoredSend = {
  endToEndId: string;
  idEnvio: string | null;
  status: SendStatus;
  amountCents: bigint;
  pixKey: string;
  payerText: string | null;
  recipient: object;
  requestedAt: Date;
  settledAt: Date | null;
  /** Of a rejection, or of one that is still to come. */
  error: SendError | null;
  returns: readonly StoredReturn[];
};

const RETURN_REASON = 'Devolução solicitada pelo usuário recebedor';

/** The immediate answer to an order. */
export function toSendAnswer(
  send: Pick<StoredSend, 'idEnvio' | 'endToEndId' | 'amountCents' | 'requestedAt'>,
): object {
  return {
    idEnvio: send.idEnvio,
    e2eId: send.endToEndId,
    valor: formatAmountText(send.amountCents),
    horario: { solicitacao: send.requestedAt.toISOString() },
    status: 'EM_PROCESSAMENTO',
  };
}

/** A sent Pix as its look-ups and the list show it. */
export function toSendResource(send: StoredSend): object {
  const { status, settledAt } = send;
  return {
    endToEndId: send.endToEndId,
    ...(send.idEnvio !== null && { idEnvio: send.idEnvio }),
    valor: formatAmountText(send.amountCents),
    chave: send.pixKey,
    status,
    ...(send.payerText !== null && { infoPagador: send.payerText }),
    horario: {
      solicitacao: send.requestedAt.toISOString(),
      ...(settledAt !== null && { liquidacao: settledAt.toISOString() }),
    },
    favorecido: send.recipient,
    ...(status === 'NAO_REALIZADO' && send.error && { gnExtras: { erro: send.error } }),
    ...(send.returns.length > 0 && {
      devolucoes: send.returns.map((item) => ({ ...toReturnItem(item), natureza: item.nature })),
    }),
  };
}

/** An item of a callback: the order has ended, or money of it came back where it has returns. */
export function toSendNotice(send: StoredSend): object {
  const { status, settledAt } = send;
  return {
    endToEndId: send.endToEndId,
    chave: send.pixKey,
    tipo: 'SOLICITACAO',
    status,
    valor: formatAmountText(send.amountCents),
    horario: settledAt?.toISOString() ?? null,
    ...(send.returns.length > 0 && { devolucoes: send.returns.map(toReturnItem) }),
    gnExtras: {
      ...(send.idEnvio !== null && { idEnvio: send.idEnvio }),
      ...(status === 'NAO_REALIZADO' && send.error && { erro: send.error }),
    },
  };
}

function toReturnItem(item: StoredReturn): object {
  const at = item.returnedAt.toISOString();
  return {
    id: item.id,
    rtrId: item.returnId,
    valor: formatAmountText(item.amountCents),
    horario: { solicitacao: at, liquidacao: at },
    status: 'DEVOLVIDO',
    motivo: RETURN_REASON,
  };
}
