import {
  holdReleaseCommandId,
  holdSettleCommandId,
  suspenseResolveCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import {
  PayoutReturnCredit,
  HoldRelease,
  SuspenseResolve,
  HoldSettle,
  PayoutSuspend,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { PayoutRow } from './payout-row.ts';

/** The one command that credits a return of the acquirer's. */
export function payoutReturnCreditCommandId(endToEndId: string, returnId: string): string {
  return deriveCommandId('payout_return', `${endToEndId}:${returnId}`);
}

/** The money of a payout returns to its owner, amount and fee (decision 113). One command per hold, for ever. */
export function holdRelease(payout: PayoutRow): OutboundEvent {
  return outboundEvent(HoldRelease, placeOf(payout), {
    ...envelopeOf(payout),
    type: 'hold.release',
    data: { ...holdEnd(payout), command_id: holdReleaseCommandId(payout) },
  });
}

/** The money of a payout has left. One command per hold, for ever. */
export function holdSettle(payout: PayoutRow, endToEndId: string | null): OutboundEvent {
  return outboundEvent(HoldSettle, placeOf(payout), {
    ...envelopeOf(payout),
    type: 'hold.settle',
    data: {
      ...holdEnd(payout),
      command_id: holdSettleCommandId(payout),
      end_to_end_id: endToEndId,
    },
  });
}

/** Money of a completed payout came back. One command per return of the acquirer, for ever (decision 128). */
export function payoutReturnCredit(
  payout: PayoutRow,
  returned: { endToEndId: string; returnId: string; amount: Cents },
): OutboundEvent {
  const { endToEndId, returnId, amount } = returned;
  return outboundEvent(PayoutReturnCredit, placeOf(payout), {
    ...envelopeOf(payout),
    type: 'payout_return.credit',
    data: {
      command_id: payoutReturnCreditCommandId(endToEndId, returnId),
      payout_id: payout.id,
      end_to_end_id: endToEndId,
      return_id: returnId,
      amount,
    },
  });
}

/** How the acquirer may contradict the end that was announced (decision 120). */
const CONTRADICTIONS = ['completed_after_failed', 'failed_after_completed'] as const;
export type Contradiction = (typeof CONTRADICTIONS)[number];

/** Books money that moved against the announced end to suspense. One command per payout and reason, for ever. */
export function payoutSuspend(payout: PayoutRow, reason: Contradiction): OutboundEvent {
  return outboundEvent(PayoutSuspend, placeOf(payout), {
    ...envelopeOf(payout),
    type: 'payout.suspend',
    data: {
      command_id: payoutSuspendCommandId(payout, reason),
      payout_id: payout.id,
      end_to_end_id: payout.endToEndId,
      direction: reason === 'completed_after_failed' ? 'out' : 'in',
      amount: payout.amount,
      reason,
    },
  });
}

/** The item in suspense of a payout that is contradicted: the command that booked it. Null where none was. */
export function suspenseItemId(payout: PayoutRow): string | null {
  return payout.contradiction === null
    ? null
    : payoutSuspendCommandId(payout, payout.contradiction);
}

/** The items that a payout may have in suspense, by the commands that would book them. */
export function payoutSuspendCommandIds(payout: { id: string }): string[] {
  return CONTRADICTIONS.map((reason) => payoutSuspendCommandId(payout, reason));
}

/** The one command that books money to suspense that moved against the announced end. */
export function payoutSuspendCommandId({ id }: { id: string }, reason: string): string {
  return deriveCommandId('payout_suspend', `${id}:${reason}`);
}

/** Money that stayed becomes available to its owner. One command per item, for ever. */
export function suspenseResolve(payout: PayoutRow, itemId: string): OutboundEvent {
  return outboundEvent(SuspenseResolve, placeOf(payout), {
    ...envelopeOf(payout),
    type: 'suspense.resolve',
    data: {
      command_id: suspenseResolveCommandId(itemId),
      item_id: itemId,
      end_to_end_id: payout.endToEndId,
      charge_id: null,
      payout_id: payout.id,
      amount: payout.amount,
      action: 'accept',
    },
  });
}

/** Commands of one account stay in order; they are no events of the payout and take no number of its. */
function placeOf(payout: PayoutRow) {
  return { key: payout.accountId, sequence: null };
}

function envelopeOf(payout: PayoutRow) {
  return {
    event_id: newId(),
    version: 1 as const,
    occurred_at: new Date().toISOString(),
    account_id: payout.accountId,
    application_id: payout.applicationId,
  };
}

function holdEnd(payout: PayoutRow) {
  return { hold_id: payout.holdId, resource_id: payout.id };
}
