import { formatAmountText } from '@pixmesh/acquirer/amount-text';

export type ReturnStatus = 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO';

/** Money of a received Pix that goes back to its payer, as stored. */
export type PixReturn = {
  /** Of the settlement system (`rtrId`). */
  returnId: string;
  /** Chosen by the client that ordered it. */
  id: string;
  status: ReturnStatus;
  amountCents: bigint;
  nature: string;
  description: string | null;
  /** Why it is not done, or will not be. */
  reason: string | null;
  requestedAt: Date;
  settledAt: Date | null;
};

/** A return as answers show it. */
export function toReturnResource(item: PixReturn): object {
  const { id, rtrId, valor, ...rest } = toReturnNotice(item);
  return {
    id,
    rtrId,
    valor,
    natureza: item.nature,
    ...(item.description !== null && { descricao: item.description }),
    ...rest,
  };
}

/** A return as callbacks show it: what it was for is left to a status check. */
export function toReturnNotice(item: PixReturn) {
  return {
    id: item.id,
    rtrId: item.returnId,
    valor: formatAmountText(item.amountCents),
    horario: {
      solicitacao: item.requestedAt.toISOString(),
      ...(item.settledAt !== null && { liquidacao: item.settledAt.toISOString() }),
    },
    status: item.status,
    ...(item.status === 'NAO_REALIZADO' && item.reason !== null && { motivo: item.reason }),
  };
}

/** What of a Pix could still go back: a return on its way counts as gone. */
export function leftOf(pix: {
  amountCents: bigint;
  returns: readonly Pick<PixReturn, 'status' | 'amountCents'>[];
}): bigint {
  return pix.returns
    .filter(({ status }) => status !== 'NAO_REALIZADO')
    .reduce((left, { amountCents }) => left - amountCents, pix.amountCents);
}
