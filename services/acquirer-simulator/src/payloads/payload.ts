import { formatAmountText } from '@pixmesh/acquirer/amount-text';

import type { StoredCharge } from '#charges/charge-resource.ts';

/** A charge as its location shows it, read at one moment of the provider's time. */
export type ShownCharge = Pick<
  StoredCharge,
  | 'txid'
  | 'status'
  | 'amountCents'
  | 'pixKey'
  | 'expiresInSeconds'
  | 'revision'
  | 'debtor'
  | 'payerRequest'
  | 'additionalInfo'
  | 'createdAt'
> & { readAt: Date; isExpired: boolean };

/** What a payer's institution reads of a charge (API Pix, CobPayload). */
export function toPayload(charge: ShownCharge): object {
  return {
    calendario: {
      criacao: charge.createdAt.toISOString(),
      apresentacao: charge.readAt.toISOString(),
      expiracao: charge.expiresInSeconds,
    },
    ...(charge.debtor && { devedor: charge.debtor }),
    txid: charge.txid,
    revisao: charge.revision,
    status: charge.status,
    valor: { original: formatAmountText(charge.amountCents), modalidadeAlteracao: 0 },
    chave: charge.pixKey,
    ...(charge.payerRequest !== null && { solicitacaoPagador: charge.payerRequest }),
    ...(charge.additionalInfo && { infoAdicionais: charge.additionalInfo }),
  };
}
