import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';

import { type AnnouncedMove, announceMove } from '#charge/move-charges.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { cutFailureReason } from '@pixmesh/kernel/text';

import type { IssuingDeps } from './issuing-deps.ts';

type Failed = {
  reason: string;
  checkInMs?: AnnouncedMove['checkInMs'];
  unansweredCalls?: number;
};

/** `processing` → `pending`: `created` and `emitted` in the same commit, at the same moment (decision 65). */
export async function finishIssued(
  deps: IssuingDeps,
  charge: ChargeRow,
  issued: { brCode: string; checkAgainNow: boolean },
): Promise<ChargeRow> {
  const { brCode } = issued;
  const checkInMs = issued.checkAgainNow ? 'requested' : nextCheckMs(0, deps.pendingChecks);
  const change = {
    from: charge,
    status: 'pending',
    cause: 'issued',
    brCode,
    checkInMs,
  } as const;
  return await move(deps, change, ['charge.pix.created', 'charge.pix.emitted']);
}

/**
 * `processing` → `failed`: `charge.pix.failed` alone (decision 64).
 *
 * @param unansweredCalls what the decision counted: another call that was counted since may have its effect, and the
 *   charge stays `processing`
 * @param checkInMs when to check again for a charge that may still turn up at the acquirer, or was paid there
 */
export async function finishFailed(
  deps: IssuingDeps,
  charge: ChargeRow,
  { reason, checkInMs = null, unansweredCalls }: Failed,
): Promise<ChargeRow> {
  const failureReason = cutFailureReason(reason);
  const change = {
    from: charge,
    status: 'failed',
    cause: 'issuing_failed',
    detail: failureReason,
    failureReason,
    checkInMs,
    ...(unansweredCalls === undefined ? {} : { unansweredCalls }),
  } as const;
  return await move(deps, change, ['charge.pix.failed']);
}

/** Moves the charge and returns it as it stands now; if another call moved it first, that move stands. */
async function move(
  deps: IssuingDeps,
  change: AnnouncedMove,
  types: readonly ChargeEventType[],
): Promise<ChargeRow> {
  const after = await announceMove(deps, change, types);
  if (after !== null && change.checkInMs === 'requested') deps.wakeStatusChecks();
  return after ?? (await findAnyCharge(deps.db, change.from.id)) ?? change.from;
}
