import { assertNever } from '@pixmesh/kernel/app-error';

import type { SendStatus } from './send-resource.ts';

type FinalStatus = Exclude<SendStatus, 'EM_PROCESSAMENTO'>;
type Words = { code?: string | undefined; message?: string | undefined };

/** What somebody asks of an order; `words` are those of a rejection. */
export type EndingByHand =
  | { kind: 'settle'; words: Words }
  | { kind: 'reject'; words: Words }
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
  const wanted = wantedStatus(ending);
  if (status === wanted) return { kind: 'nothing' };
  const isFinal = status !== 'EM_PROCESSAMENTO';
  return isFinal === (ending.kind === 'contradict')
    ? { kind: 'end', status: wanted }
    : { kind: 'conflict' };
}

function wantedStatus(ending: EndingByHand): FinalStatus {
  switch (ending.kind) {
    case 'settle':
      return 'REALIZADO';
    case 'reject':
      return 'NAO_REALIZADO';
    case 'contradict':
      return ending.status;
    default:
      return assertNever(ending);
  }
}
