import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';

import { chargeEvents } from '#charges/charge-events.ts';
import type { ChargeRow } from '#charges/charge-row.ts';
import { type Transition, findAnyCharge, moveCharge } from '#charges/charges.sql.ts';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';

import type { IssuingDeps } from './issuing-deps.ts';

const FAILURE_REASON_LENGTH_MAX = 255;

/** `processing` → `pending`: `created` and `emitted` in the same commit, at the same moment (decision 65). */
export async function settleIssued(
  deps: IssuingDeps,
  charge: ChargeRow,
  issued: { brCode: string; location: string | null; lookAgainNow: boolean },
): Promise<ChargeRow> {
  const { brCode, location } = issued;
  const checkInMs = issued.lookAgainNow ? 0 : nextCheckMs(0, deps.pendingChecks);
  const change = { from: charge, status: 'pending', brCode, location, checkInMs } as const;
  return await move(deps, change, ['charge.pix.created', 'charge.pix.emitted']);
}

/** `processing` or `pending` → `failed`: `charge.pix.failed` alone (decision 64). */
export async function settleFailed(
  deps: IssuingDeps,
  charge: ChargeRow,
  reason: string,
): Promise<ChargeRow> {
  const failureReason = [...reason].slice(0, FAILURE_REASON_LENGTH_MAX).join('');
  const change = { from: charge, status: 'failed', failureReason, checkInMs: null } as const;
  return await move(deps, change, ['charge.pix.failed']);
}

/** Moves the charge and answers it as it stands now; if somebody else moved it first, theirs stands. */
async function move(
  deps: IssuingDeps,
  change: Omit<Transition, 'events'>,
  types: readonly ChargeEventType[],
): Promise<ChargeRow> {
  const { from } = change;
  const after: ChargeRow = {
    ...from,
    status: change.status,
    brCode: change.brCode ?? from.brCode,
    failureReason: change.failureReason ?? null,
  };
  const events = chargeEvents(after, types, deps.receiver);
  if (await moveCharge(deps.db, { ...change, events })) {
    deps.kickOutbox();
    return {
      ...after,
      version: from.version + 1,
      eventSequence: from.eventSequence + events.length,
    };
  }
  return (await findAnyCharge(deps.db, from.id)) ?? from;
}
