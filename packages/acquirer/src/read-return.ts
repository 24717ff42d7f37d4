import type { PixReturn } from './acquirer.ts';
import { ReturnAnswer } from './answer-schemas.ts';
import { describeProblem } from './describe-problem.ts';

/** Any other word is a return on its way: it proves neither that money moved nor that it will not. */
const STATUSES = new Map<string, PixReturn['status']>([
  ['EM_PROCESSAMENTO', 'processing'],
  ['DEVOLVIDO', 'returned'],
  ['NAO_REALIZADO', 'failed'],
]);

/** The return of one id, or null when the answer is not readable or speaks of another one. */
export function readReturn(body: unknown, id: string): PixReturn | null {
  const { data: answer } = ReturnAnswer.safeParse(body);
  return answer?.id === id ? toReturn(answer) : null;
}

/** The returns that a Pix shows. One of nothing moves no money: there is nothing to book of it. */
export function toReturns(items: ReturnAnswer[] | null | undefined): PixReturn[] {
  return (items ?? []).map(toReturn).filter(({ amountCents }) => amountCents > 0n);
}

function toReturn(item: ReturnAnswer): PixReturn {
  const status = STATUSES.get(item.status) ?? 'processing';
  return {
    id: item.id,
    // An empty text names nothing.
    returnId: item.rtrId || null,
    amountCents: item.valor,
    status,
    nature: item.natureza ?? null,
    reason: status === 'failed' && item.motivo ? describeProblem('', item.motivo).message : null,
    // What did not happen has settled nothing, whatever time is written there.
    settledAt: status === 'returned' ? (item.horario?.liquidacao ?? null) : null,
  };
}
