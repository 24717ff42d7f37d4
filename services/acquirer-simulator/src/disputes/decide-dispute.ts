import { assertNever } from '@pixmesh/kernel/app-error';

import type { DisputeStatus } from './dispute-resource.ts';

/** What somebody does to a dispute. */
export type DisputeAct = 'defend' | 'win' | 'lose' | 'withdraw';

export type DisputeFacts = {
  status: DisputeStatus;
  /** Whether its receiver has been heard already. */
  isDefended: boolean;
  /** Whether the time for a defense is over. */
  isLate: boolean;
};

export type DisputeDecision =
  | { kind: 'move'; status: DisputeStatus }
  | { kind: 'nothing' }
  | { kind: 'conflict' }
  | { kind: 'late' };

/**
 * A dispute is decided once, but what its receiver has won can still be lost; what is lost, or withdrawn by the
 * payer's side, stays so (decision 193). Repeating what has happened changes nothing.
 */
export function decideDispute(facts: DisputeFacts, act: DisputeAct): DisputeDecision {
  const wanted = statusAfter(act);
  const { status } = facts;
  if (act === 'defend') return decideDefense(facts);
  if (status === wanted) return { kind: 'nothing' };
  const isReversed = status === 'REJEITADA' && act === 'lose';
  return isOpen(status) || isReversed ? { kind: 'move', status: wanted } : { kind: 'conflict' };
}

function isOpen(status: DisputeStatus): boolean {
  return status === 'ABERTA' || status === 'EM_DEFESA';
}

function decideDefense({ status, isDefended, isLate }: DisputeFacts): DisputeDecision {
  if (!isOpen(status)) return { kind: 'conflict' };
  if (isDefended) return { kind: 'nothing' };
  return isLate ? { kind: 'late' } : { kind: 'move', status: 'EM_DEFESA' };
}

function statusAfter(act: DisputeAct): DisputeStatus {
  switch (act) {
    case 'defend':
      return 'EM_DEFESA';
    case 'win':
      return 'REJEITADA';
    case 'lose':
      return 'ACEITA';
    case 'withdraw':
      return 'CANCELADA_EFI';
    default:
      return assertNever(act);
  }
}
