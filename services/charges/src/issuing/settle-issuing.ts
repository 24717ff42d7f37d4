import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';

import { chargeEvents } from '#charges/charge-events.ts';
import type { ChargeRow } from '#charges/charge-row.ts';
import { type Transition, findAnyCharge, moveCharge } from '#charges/charges.sql.ts';
import { nextCheckMs } from '#read-back/check-schedule.ts';

import type { IssuingDeps } from './issuing-deps.ts';

const FAILURE_REASON_LENGTH_MAX = 255;

/** `processing` → `pending`: `created` and `emitted` in the same commit, at the same moment (decision 65). */
export async function settleIssued(
  deps: IssuingDeps,
  charge: ChargeRow,
  issued: { brCode: string; location: string | null; lookAgainNow: boolean },
): Promise<ChargeRow> {
  const checkInMs = issued.lookAgainNow ? 0 : nextCheckMs(0, deps.pendingCheckMsMax);
  const change = { status: 'pending', brCode: issued.brCode, location: issued.location } as const;
  return await move(deps, charge, ['charge.pix.created', 'charge.pix.emitted'], {
    ...change,
    checkInMs,
  });
}

/** `processing` or `pending` → `failed`: `charge.pix.failed` alone (decision 64). */
export async function settleFailed(
  deps: IssuingDeps,
  charge: ChargeRow,
  reason: string,
): Promise<ChargeRow> {
  const failureReason = [...reason].slice(0, FAILURE_REASON_LENGTH_MAX).join('');
  const change = { status: 'failed', failureReason, checkInMs: null } as const;
  return await move(deps, charge, ['charge.pix.failed'], change);
}

/** Moves the charge and answers it as it stands now; if somebody else moved it first, theirs stands. */
async function move(
  deps: IssuingDeps,
  charge: ChargeRow,
  types: readonly ChargeEventType[],
  change: Omit<Transition, 'from' | 'events'>,
): Promise<ChargeRow> {
  const after: ChargeRow = {
    ...charge,
    status: change.status,
    brCode: change.brCode ?? charge.brCode,
    failureReason: change.failureReason ?? null,
  };
  const events = chargeEvents(after, types, deps.receiver);
  if (await moveCharge(deps.db, { ...change, from: charge, events })) {
    deps.kickOutbox();
    return {
      ...after,
      version: charge.version + 1,
      eventSequence: charge.eventSequence + events.length,
    };
  }
  return (await findAnyCharge(deps.db, charge.id)) ?? charge;
}
