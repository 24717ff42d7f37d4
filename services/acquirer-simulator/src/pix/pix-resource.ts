import { formatAmountText } from '@pixmesh/acquirer/amount-text';

/** A received Pix as stored. */
export type StoredPix = {
  endToEndId: string;
  txid: string;
  pixKey: string;
  amountCents: bigint;
  paidAt: Date;
};

/** A received Pix as API Pix shows it, in answers and in notices alike. */
export function toPixResource(pix: StoredPix): object {
  return {
    endToEndId: pix.endToEndId,
    txid: pix.txid,
    valor: formatAmountText(pix.amountCents),
    chave: pix.pixKey,
    horario: pix.paidAt.toISOString(),
  };
}
