import type { AcquirerCharge, ReceivedPix } from './acquirer.ts';
import { ApiPixProblem, ChargeAnswer, EfiProblem, ReceivedPixAnswer } from './answer-schemas.ts';
import { describeProblem } from './describe-problem.ts';
import { isForeignCode } from './foreign-code.ts';
import { toReturns } from './read-return.ts';

const STATUSES = {
  ATIVA: 'active',
  CONCLUIDA: 'settled',
  REMOVIDA_PELO_USUARIO_RECEBEDOR: 'removed_by_receiver',
  REMOVIDA_PELO_PSP: 'removed_by_psp',
} as const;

/**
 * The charge of one txid, or null when the answer is not readable, speaks of another charge, or offers a code by which
 * something else would be paid. A closed charge is read whatever its code says: what it has received counts.
 */
export function readCharge(body: unknown, txid: string): AcquirerCharge | null {
  const { data: answer } = ChargeAnswer.safeParse(body);
  if (answer === undefined || answer.txid !== txid) return null;
  if (answer.status === 'ATIVA' && hasForeignCode(answer)) return null;
  return {
    txid,
    status: STATUSES[answer.status],
    amountCents: answer.valor.original,
    location: answer.location ?? answer.loc?.location ?? null,
    brCode: answer.pixCopiaECola ?? null,
    createdAt: answer.calendario.criacao,
    expiresInSeconds: answer.calendario.expiracao,
    pixKey: answer.chave,
    // What stands under a charge was paid to it, even where the item does not repeat the txid.
    received: (answer.pix ?? []).map((item) => toReceivedPix({ ...item, txid: item.txid ?? txid })),
  };
}

function hasForeignCode({ pixCopiaECola, location, loc }: ChargeAnswer): boolean {
  const locations = [location, loc?.location].filter((one) => typeof one === 'string');
  return typeof pixCopiaECola === 'string' && isForeignCode(pixCopiaECola, locations);
}

/** The Pix of one end-to-end id, or null when the answer is not readable or speaks of another Pix. */
export function readReceivedPix(body: unknown, endToEndId: string): ReceivedPix | null {
  const { data: answer } = ReceivedPixAnswer.safeParse(body);
  return answer?.endToEndId === endToEndId ? toReceivedPix(answer) : null;
}

/** Code and message of an error in either of the two forms, or null when it is in none. */
export function readProblem(body: unknown): { code: string; message: string } | null {
  const efi = EfiProblem.safeParse(body);
  if (efi.success) return describeProblem(efi.data.nome, efi.data.mensagem);
  const apiPix = ApiPixProblem.safeParse(body);
  if (!apiPix.success) return null;
  const { type, title, detail } = apiPix.data;
  return describeProblem(type.slice(type.lastIndexOf('/') + 1), detail ?? title);
}

export function toReceivedPix(answer: ReceivedPixAnswer): ReceivedPix {
  return {
    endToEndId: answer.endToEndId,
    txid: answer.txid ?? null,
    pixKey: answer.chave ?? null,
    amountCents: answer.valor,
    paidAt: answer.horario,
    returns: toReturns(answer.devolucoes),
    tariffCents: answer.gnExtras?.tarifa ?? null,
  };
}
