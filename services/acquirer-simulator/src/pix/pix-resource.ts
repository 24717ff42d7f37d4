import { formatAmountText } from '@pixmesh/acquirer/amount-text';

import { type PixReturn, toReturnNotice, toReturnResource } from '#pix/return-resource.ts';

/** A received Pix as stored. */
export type StoredPix = {
  endToEndId: string;
  /** Null where the payer's institution named none. */
  txid: string | null;
  pixKey: string;
  amountCents: bigint;
  paidAt: Date;
  /** What the provider took for it. */
  tariffCents: bigint | null;
  /** In the order in which they were accepted. */
  returns: readonly PixReturn[];
};

/** A received Pix as answers show it. */
export function toPixResource(pix: StoredPix): object {
  return withReturns(pix, pix.returns.map(toReturnResource));
}

/** An item of a callback: a Pix has arrived, or money of it goes back where it has returns. */
export function toPixNotice(pix: StoredPix): object {
  return withReturns(pix, pix.returns.map(toReturnNotice));
}

function withReturns(pix: StoredPix, devolucoes: readonly object[]): object {
  const { txid, tariffCents } = pix;
  return {
    endToEndId: pix.endToEndId,
    ...(txid !== null && { txid }),
    valor: formatAmountText(pix.amountCents),
    chave: pix.pixKey,
    horario: pix.paidAt.toISOString(),
    ...(devolucoes.length > 0 && { devolucoes }),
    ...(tariffCents !== null && { gnExtras: { tarifa: formatAmountText(tariffCents) } }),
  };
}
