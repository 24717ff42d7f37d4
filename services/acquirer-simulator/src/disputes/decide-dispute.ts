import type { DisputeStatus } from './dispute-resource.ts';

/** Where each act that somebody can do to a dispute leads. */
const STATUS_AFTER = {
  defend: 'EM_DEFESA',
  win: 'REJEITADA',
  lose: 'ACEITA',
  withdraw: 'CANCELADA_EFI',
} as const satisfies Record<string, DisputeStatus>;
export type DisputeAct = keyof typeof STATUS_AFTER;

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
  const wanted = STATUS_AFTER[act];
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
  return isLate ? { kind: 'late' } : { kind: 'move', status: STATUS_AFTER.defend };
}
