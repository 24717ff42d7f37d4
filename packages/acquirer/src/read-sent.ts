import type { AcquirerPayout } from './acquirer.ts';
import { SendAnswer, SentPixAnswer } from './answer-schemas.ts';
import { describeProblem } from './describe-problem.ts';
import { toReturns } from './read-return.ts';

const STATUSES = {
  EM_PROCESSAMENTO: 'processing',
  REALIZADO: 'settled',
  NAO_REALIZADO: 'rejected',
} as const;

/** What was answered to the order of one idEnvio, or null when it is not readable or speaks of another. */
export function readSendAnswer(body: unknown, idEnvio: string): AcquirerPayout | null {
  const { data: answer } = SendAnswer.safeParse(body);
  if (answer?.idEnvio !== idEnvio) return null;
  return {
    idEnvio,
    endToEndId: answer.e2eId,
    status: STATUSES[answer.status],
    amountCents: answer.valor,
    reason: null,
    requestedAt: answer.horario.solicitacao,
    settledAt: null,
    returns: [],
  };
}

/** The sent Pix of one idEnvio, or null when the answer is not readable or speaks of another. */
export function readSentPix(body: unknown, idEnvio: string): AcquirerPayout | null {
  const { data: answer } = SentPixAnswer.safeParse(body);
  return answer?.idEnvio === idEnvio ? toAcquirerPayout(answer) : null;
}

export function toAcquirerPayout(answer: SentPixAnswer): AcquirerPayout {
  const { status } = answer;
  return {
    idEnvio: answer.idEnvio ?? null,
    endToEndId: answer.endToEndId,
    status: STATUSES[status],
    amountCents: answer.valor,
    reason: status === 'NAO_REALIZADO' ? describeReason(answer) : null,
    requestedAt: answer.horario.solicitacao,
    // A rejected order has settled nothing, whatever time is written there.
    settledAt: status === 'REALIZADO' ? (answer.horario.liquidacao ?? null) : null,
    returns: toReturns(answer.devolucoes),
  };
}

function describeReason(answer: SentPixAnswer): string | null {
  const { codigo, motivo } = answer.gnExtras?.erro ?? {};
  if (!codigo) return motivo ? describeProblem('', motivo).message : null;
  const { code, message } = describeProblem(codigo, motivo);
  return `${code}: ${message}`;
}
