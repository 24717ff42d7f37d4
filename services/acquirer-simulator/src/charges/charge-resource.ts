import { formatAmountText } from '@pixmesh/acquirer/amount-text';

import { type StoredPix, toPixResource } from '#pix/pix-resource.ts';

/** A charge as stored; `received` holds what was paid to it, oldest first. */
export type StoredCharge = {
  txid: string;
  number: bigint;
  status: 'ATIVA' | 'CONCLUIDA' | 'REMOVIDA_PELO_USUARIO_RECEBEDOR' | 'REMOVIDA_PELO_PSP';
  amountCents: bigint;
  pixKey: string;
  expiresInSeconds: number;
  location: string;
  brCode: string;
  revision: number;
  debtor: object | null;
  payerRequest: string | null;
  additionalInfo: object[] | null;
  createdAt: Date;
  received: readonly StoredPix[];
};

/** A charge as API Pix shows it (CobCompleta). */
export function toChargeResource(charge: StoredCharge): object {
  const { location, received } = charge;
  const criacao = charge.createdAt.toISOString();
  return {
    calendario: { criacao, expiracao: charge.expiresInSeconds },
    txid: charge.txid,
    revisao: charge.revision,
    loc: { id: Number(charge.number), location, tipoCob: 'cob', criacao },
    location,
    status: charge.status,
    ...(charge.debtor && { devedor: charge.debtor }),
    valor: { original: formatAmountText(charge.amountCents), modalidadeAlteracao: 0 },
    chave: charge.pixKey,
    ...(charge.payerRequest !== null && { solicitacaoPagador: charge.payerRequest }),
    ...(charge.additionalInfo && { infoAdicionais: charge.additionalInfo }),
    pixCopiaECola: charge.brCode,
    ...(received.length > 0 && { pix: received.map(toPixResource) }),
  };
}
