import type { AcquirerPayout, SendOutcome } from '@pixmesh/acquirer/client';
import { wasNeverSent } from '@pixmesh/acquirer/never-sent';
import { assertNever } from '@pixmesh/kernel/app-error';

import type { PayoutRow } from '#payouts/payout-row.ts';

export type SendStep =
  | { kind: 'accept'; sent: AcquirerPayout }
  /** The refusal ends the payout. */
  | { kind: 'release'; reason: string }
  /** It may do so later: an earlier call may still have its effect. */
  | { kind: 'keep_refusal'; reason: string }
  /** Nothing is known; a look decides. */
  | { kind: 'look' }
  /** Nothing can come of this call: it no longer stands in the way of a refusal. */
  | { kind: 'uncount' };

/**
 * What follows from the answer to one call that sent a payout, whose count holds this call already. A refusal
 * counts at once only if this call is the only one without an answer (decisions 118, 119).
 */
export function decideSendAnswer(payout: PayoutRow, outcome: SendOutcome): SendStep {
  switch (outcome.kind) {
    case 'accepted':
      // Never adopted: what was ordered and what leaves must be one. The look reports it.
      if (outcome.payout.amountCents !== payout.amount) return { kind: 'look' };
      return { kind: 'accept', sent: outcome.payout };
    case 'refused': {
      const reason = `${outcome.code}: ${outcome.message}`;
      return { kind: payout.unansweredPuts === 1 ? 'release' : 'keep_refusal', reason };
    }
    case 'unknown':
      return { kind: wasNeverSent(outcome) ? 'uncount' : 'look' };
    default:
      return assertNever(outcome);
  }
}
