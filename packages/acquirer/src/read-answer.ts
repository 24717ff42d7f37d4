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

/** The charge of one txid, or null when the answer is not readable or speaks of another charge. */
export function readCharge(body: unknown, txid: string): AcquirerCharge | null {
  const { data: answer } = ChargeAnswer.safeParse(body);
  if (answer === undefined || answer.txid !== txid) return null;
  return {
    txid,
    status: STATUSES[answer.status],
    amountCents: answer.valor.original,
    location: chooseLocation(answer),
    brCode: answer.pixCopiaECola ?? null,
    createdAt: answer.calendario.criacao,
    expiresInSeconds: answer.calendario.expiracao,
    pixKey: answer.chave,
    // What stands under a charge was paid to it, even where the item does not repeat the txid. A Pix of nothing pays
    // nothing, and there is no command that would book it.
    received: (answer.pix ?? [])
      .filter(({ valor }) => valor > 0n)
      .map((item) => toReceivedPix({ ...item, txid: item.txid ?? txid })),
  };
}

/** An answer has two places for it. Where both are filled, the location of the answered code counts. */
function chooseLocation({ location, loc, pixCopiaECola }: ChargeAnswer): string | null {
  const places = [location, loc?.location].map((one) => one?.trim() ?? '').filter(Boolean);
  const answered = [...new Set(places)];
  // Nearly always one and the same: the code is not worth reading then.
  if (answered.length < 2) return answered[0] ?? null;
  const ofCode = answered.find((one) => !isForeignCode(pixCopiaECola ?? '', one));
  return ofCode ?? answered[0] ?? null;
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
