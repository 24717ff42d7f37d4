import {
  type HoldItem,
  type HoldState,
  TakeHoldAnswer,
  TakeHoldBody,
  VoidHoldAnswer,
  VoidHoldBody,
} from '@pixmesh/contracts/internal/holds';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Cents } from '@pixmesh/kernel/money';
import { z } from 'zod';

import type { Deadline } from '@pixmesh/http/deadline';
import type { InternalClient } from '@pixmesh/http/internal-client';

/** A hold as the service that takes it names it; everything about it is sticky by `holdId`. */
export type HoldOrder = {
  holdId: string;
  accountId: string;
  /** The payout or refund it is for. */
  resourceId: string;
  kind: NonNullable<HoldItem['kind']>;
  amount: Cents;
  fee: Cents;
  /** The received Pix that a refund gives back; null for a payout. */
  endToEndId: string | null;
};

export type HoldRefusal = NonNullable<TakeHoldAnswer['reason']>;

/** They concern the Pix that a refund gives back. */
const REFUND_REFUSALS: ReadonlySet<HoldRefusal> = new Set(['exceeds_received', 'unknown_pix']);

/**
 * `held`: the money is or was reserved under this very hold; `state` says what became of it. `unknown`: no
 * readable answer, so the hold may stand or not; asking again with the same id decides.
 */
export type TakeHoldOutcome =
  | { kind: 'held'; state: HoldState }
  | { kind: 'refused'; reason: HoldRefusal }
  | { kind: 'unknown'; cause: unknown };

/** `voided`: nothing is held and nothing ever will be under this id. */
export type VoidHoldOutcome =
  | { kind: 'voided' }
  | { kind: 'already_held'; state: HoldState }
  | { kind: 'unknown'; cause: unknown };

/**
 * Holds at the ledger (decision 134), for payouts and refunds alike: the outcome of a money command must mean the same
 * to every service that gives one. Every call may be repeated for ever.
 */
export type LedgerHolds = {
  /** Amount and fee leave the available balance together, or not at all. */
  take(order: HoldOrder, deadline: Deadline): Promise<TakeHoldOutcome>;
  /** Before an intent is dropped: defeats a hold that is still on its way, too. */
  void(
    hold: Pick<HoldOrder, 'holdId' | 'accountId' | 'resourceId'>,
    deadline: Deadline,
  ): Promise<VoidHoldOutcome>;
};

export function createLedgerHolds(client: InternalClient): LedgerHolds {
  return {
    take: async (order, deadline) => {
      const body = z.encode(TakeHoldBody, {
        account_id: order.accountId,
        resource_id: order.resourceId,
        kind: order.kind,
        amount: order.amount,
        fee: order.fee,
        ...(order.endToEndId !== null && { end_to_end_id: order.endToEndId }),
      });
      const path = `/internal/holds/${order.holdId}`;
      return readTaken(await ask(client, { method: 'PUT', path, body, deadline }), order);
    },
    void: async (hold, deadline) => {
      const body = z.encode(VoidHoldBody, {
        account_id: hold.accountId,
        resource_id: hold.resourceId,
      });
      const path = `/internal/holds/${hold.holdId}/void`;
      return readVoided(await ask(client, { method: 'POST', path, body, deadline }), hold);
    },
  };
}

type Answer = { kind: 'answered'; body: unknown } | { kind: 'unknown'; cause: unknown };

function readTaken(answer: Answer, { holdId, kind }: HoldOrder): TakeHoldOutcome {
  if (answer.kind === 'unknown') return answer;
  const parsed = TakeHoldAnswer.safeParse(answer.body);
  if (!parsed.success) return unreadable(parsed.error);
  if (parsed.data.hold_id !== holdId) return unreadable('an answer about another hold');
  const { outcome, reason, state } = parsed.data;
  if (outcome === 'held') return { kind: 'held', state };
  if (reason === null) return unreadable('a refusal for no reason');
  // No answer to a payout: its hold may stand or not.
  if (kind === 'payout' && REFUND_REFUSALS.has(reason))
    return unreadable(`a refusal for ${reason}`);
  return { kind: 'refused', reason };
}

function readVoided(answer: Answer, { holdId }: Pick<HoldOrder, 'holdId'>): VoidHoldOutcome {
  if (answer.kind === 'unknown') return answer;
  const parsed = VoidHoldAnswer.safeParse(answer.body);
  if (!parsed.success) return unreadable(parsed.error);
  if (parsed.data.hold_id !== holdId) return unreadable('an answer about another hold');
  const { outcome, state } = parsed.data;
  return outcome === 'voided' ? { kind: 'voided' } : { kind: 'already_held', state };
}

/** A call of the service for itself: the account stands in the body, and there are no claims. */
async function ask(
  client: InternalClient,
  call: { method: 'PUT' | 'POST'; path: string; body: object; deadline: Deadline },
): Promise<Answer> {
  try {
    const answer = await client.request({
      ...call,
      isRepeatable: true,
      claims: null,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(call.body)),
    });
    // Only an answer in the contract's own words decides; a refused call or an outage does not.
    if (answer.status !== 200) return unreadable(`status ${answer.status}`);
    return { kind: 'answered', body: JSON.parse(answer.body.toString('utf8')) as unknown };
  } catch (error) {
    if (error instanceof AppError || error instanceof SyntaxError) return unreadable(error);
    throw error;
  }
}

function unreadable(cause: unknown): { kind: 'unknown'; cause: unknown } {
  return { kind: 'unknown', cause };
}
