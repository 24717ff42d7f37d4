import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';

import type { DisputeRow } from '#disputes/dispute-row.ts';

const OPENED_AT = new Date('2026-11-20T12:00:00.000Z');
const DEADLINE_AT = new Date('2026-11-23T12:00:00.000Z');
const DECIDED_AT = new Date('2026-11-24T12:00:00.000Z');

/** An infraction as the acquirer lists it. */
export function anInfraction(changes: Partial<AcquirerDispute> = {}): AcquirerDispute {
  const { status = 'open' } = changes;
  return {
    id: newId(),
    endToEndId: 'E12345678202611201200abcdefghijk',
    amountCents: toCents(12_345),
    status,
    reason: 'SCAM',
    openedAt: OPENED_AT,
    deadlineAt: DEADLINE_AT,
    defenseReceivedAt: null,
    decidedAt: status === 'open' || status === 'under_review' ? null : DECIDED_AT,
    ...changes,
  };
}

/** A stored dispute, read while its time of defense lasts. */
export function aDispute(changes: Partial<DisputeRow> = {}): DisputeRow {
  const { status = 'open' } = changes;
  const isDecided = status === 'won' || status === 'lost';
  return {
    id: newId(),
    infractionId: newId(),
    chargeId: newId(),
    accountId: newId(),
    endToEndId: 'E12345678202611201200abcdefghijk',
    amount: toCents(12_345),
    status,
    reason: 'SCAM',
    arrivedResolved: false,
    openedAt: OPENED_AT,
    defenseDeadlineAt: DEADLINE_AT,
    resolvedAt: isDecided ? DECIDED_AT : null,
    acquirerStatus: 'open',
    acquirerDecidedAt: null,
    block: isDecided ? 'ended' : 'standing',
    defenseText: null,
    defenseSentAt: null,
    intendedDefense: null,
    createdAt: OPENED_AT,
    version: 0,
    returnedAmount: toCents(0),
    readAt: new Date('2026-11-21T12:00:00.000Z'),
    ...changes,
  };
}
