import type { SendStatus } from './send-resource.ts';

type FinalStatus = Exclude<SendStatus, 'EM_PROCESSAMENTO'>;
type Words = { code?: string | undefined; message?: string | undefined };

const STATUS_AFTER = { settle: 'REALIZADO', reject: 'NAO_REALIZADO' } as const;

/** What somebody asks of an order; `words` are those of a rejection. */
export type EndingByHand =
  | { kind: keyof typeof STATUS_AFTER; words: Words }
  | { kind: 'contradict'; status: FinalStatus; words: Words };

export type EndingDecision =
  | { kind: 'end'; status: FinalStatus }
  | { kind: 'nothing' }
  | { kind: 'conflict' };

/**
 * An order ends once. Only `contradict` turns a final one around, as no provider should: that is what the mesh
 * has to survive.
 */
export function decideEnding(status: SendStatus, ending: EndingByHand): EndingDecision {
  const wanted = ending.kind === 'contradict' ? ending.status : STATUS_AFTER[ending.kind];
  if (status === wanted) return { kind: 'nothing' };
  const isFinal = status !== 'EM_PROCESSAMENTO';
  return isFinal === (ending.kind === 'contradict')
    ? { kind: 'end', status: wanted }
    : { kind: 'conflict' };
}
