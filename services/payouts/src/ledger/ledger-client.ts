import {
  type HoldState,
  TakeHoldAnswer,
  TakeHoldBody,
  VoidHoldAnswer,
  VoidHoldBody,
} from '@pixmesh/contracts/internal/holds';
import type { Deadline } from '@pixmesh/http/deadline';
import type { InternalClient } from '@pixmesh/http/internal-client';
import { AppError } from '@pixmesh/kernel/app-error';
import { z } from 'zod';

import type { PayoutRow } from '#payouts/payout-row.ts';

/**
 * `held`: the money is or was reserved under this very hold; `state` says what became of it. `unknown`: no
 * readable answer, so the hold may stand or not; asking again with the same id decides.
 */
type TakeHoldOutcome =
  | { kind: 'held'; state: HoldState }
  | { kind: 'refused'; reason: 'insufficient_balance' | 'voided' | 'resource_held' }
  | { kind: 'unknown'; cause: unknown };

/** `voided`: nothing is held and nothing ever will be under this id. */
type VoidHoldOutcome =
  | { kind: 'voided' }
  | { kind: 'already_held'; state: HoldState }
  | { kind: 'unknown'; cause: unknown };

/** Holds at the ledger, in this service's words. Every call may be repeated for ever (decision 134). */
export type LedgerClient = {
  /** Amount and fee leave the available balance together, or not at all. */
  takeHold(payout: PayoutRow, deadline: Deadline): Promise<TakeHoldOutcome>;
  /** Before an intent is dropped: defeats a hold that is still on its way, too. */
  voidHold(payout: PayoutRow, deadline: Deadline): Promise<VoidHoldOutcome>;
};

export function createLedgerClient(client: InternalClient): LedgerClient {
  return {
    takeHold: async (payout, deadline) => {
      const body = z.encode(TakeHoldBody, {
        account_id: payout.accountId,
        resource_id: payout.id,
        kind: 'payout',
        amount: payout.amount,
        fee: payout.fee,
      });
      const path = `/internal/holds/${payout.holdId}`;
      const answer = await ask(client, { method: 'PUT', path, body, deadline });
      return readTaken(answer, payout);
    },
    voidHold: async (payout, deadline) => {
      const body = z.encode(VoidHoldBody, {
        account_id: payout.accountId,
        resource_id: payout.id,
      });
      const path = `/internal/holds/${payout.holdId}/void`;
      const answer = await ask(client, { method: 'POST', path, body, deadline });
      return readVoided(answer, payout);
    },
  };
}

type Answer = { kind: 'answered'; body: unknown } | { kind: 'unknown'; cause: unknown };

function readTaken(answer: Answer, payout: PayoutRow): TakeHoldOutcome {
  if (answer.kind === 'unknown') return answer;
  const parsed = TakeHoldAnswer.safeParse(answer.body);
  if (!parsed.success || parsed.data.hold_id !== payout.holdId) return unreadable(parsed.error);
  const { outcome, reason, state } = parsed.data;
  if (outcome === 'held') return { kind: 'held', state };
  return reason === null ? unreadable('a refusal without reason') : { kind: 'refused', reason };
}

function readVoided(answer: Answer, payout: PayoutRow): VoidHoldOutcome {
  if (answer.kind === 'unknown') return answer;
  const parsed = VoidHoldAnswer.safeParse(answer.body);
  if (!parsed.success || parsed.data.hold_id !== payout.holdId) return unreadable(parsed.error);
  const { outcome, state } = parsed.data;
  return outcome === 'voided' ? { kind: 'voided' } : { kind: 'already_held', state };
}

/** A call of the service for itself: the account stands in the body, the token carries no tenant. */
async function ask(
  client: InternalClient,
  call: { method: 'PUT' | 'POST'; path: string; body: object; deadline: Deadline },
): Promise<Answer> {
  try {
    const answer = await client.request({
      ...call,
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
