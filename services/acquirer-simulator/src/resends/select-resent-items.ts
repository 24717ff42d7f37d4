import { assertNever } from '@pixmesh/kernel/app-error';

import { type StoredPix, toPixNotice } from '#pix/pix-resource.ts';
import { type StoredSend, toSendNotice } from '#sends/send-resource.ts';

import type { ResendBody } from './resend-body.ts';

/** Callbacks are sent again for what happened within this time. */
const RESENT_FOR_MS = 30 * 86_400_000;

/** What the ids of a request name. */
export type Found = { received: readonly StoredPix[]; sent: readonly StoredSend[] };

/**
 * The items of the notices that are sent again, as they would be sent now. Left out is what is too old and what
 * has never been announced: an order on its way, a Pix that nothing came back of.
 */
export function selectResentItems(tipo: ResendBody['tipo'], found: Found, now: Date): object[] {
  const since = new Date(now.getTime() - RESENT_FOR_MS);
  const received = found.received.filter(({ paidAt }) => paidAt >= since);
  const sent = found.sent.filter(({ requestedAt }) => requestedAt >= since);
  switch (tipo) {
    case 'PIX_RECEBIDO':
      return received.map((pix) => toPixNotice({ ...pix, returns: [] }));
    case 'DEVOLUCAO_ENVIADA':
      return received.filter(hasEndedReturn).map(toPixNotice);
    case 'PIX_ENVIADO':
      return sent
        .filter(({ status }) => status !== 'EM_PROCESSAMENTO')
        .map((send) => toSendNotice({ ...send, returns: [] }));
    case 'DEVOLUCAO_RECEBIDA':
      return sent.filter(({ returns }) => returns.length > 0).map(toSendNotice);
    default:
      return assertNever(tipo);
  }
}

function hasEndedReturn(pix: StoredPix): boolean {
  return pix.returns.some(({ status }) => status !== 'EM_PROCESSAMENTO');
}
