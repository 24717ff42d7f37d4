import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import { type ChargeId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { decideAnew } from '@pixmesh/postgres/decide-anew';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { recordIgnoredEvent } from '#charge/ignored-events.sql.ts';

import { applyChange, type ChangeDeps } from './apply-change.ts';
import { decideInfraction } from './decide-infraction.ts';
import type { DisputeRow } from './dispute-row.ts';
import {
  findByInfraction,
  findByInfractions,
  findChargeOfPix,
  findOpenDispute,
  updateDispute,
} from './disputes.sql.ts';
import { findReturnedAmount } from './return-facts.sql.ts';
import { recordSuspendedDispute } from './suspended-disputes.sql.ts';

/** Where the acquirer names no deadline (decision 192). */
const DEFENSE_PERIOD_MS = 3 * 24 * 60 * 60 * 1000;
/** A disputed Pix that stays unexplained for so long is left to operators. */
const UNKNOWN_PIX_MS_MAX = 24 * 60 * 60 * 1000;
/**
 * A dispute that we know and that is lost is announced without knowing what has returned, rather than wait for that any
 * longer. Its block stays until that is known. One that arrives lost waits for as long as it takes: what has returned
 * decides the state of its charge.
 */
const RETURNS_UNREAD_MS_MAX = 60 * 60 * 1000;
/** A dispute that concerns no charge is logged for so long. */
const LOGGED_MS_MAX = 60 * 60 * 1000;

export type ApplyDeps = ChangeDeps & {
  logger: Logger;
  /** How long the acquirer may take to return the money of a lost dispute. */
  returnWindowMs: number;
  /**
   * Asks the acquirer for the Pix of a decided dispute, and books what has returned of it; false where that is unknown.
   */
  checkReturns(charge: ChargeRow, endToEndId: string): Promise<boolean>;
  /** Requests a check of a Pix that was not announced. */
  noticePix(endToEndId: string): Promise<void>;
};

/** `waiting`: it could not be applied yet and has to be read again. */
export type Applied = 'done' | 'waiting';

/** Those of a page of infractions that differ from what is stored: most of a list is old. */
export async function findChanged(
  db: Queryable,
  listed: readonly AcquirerDispute[],
): Promise<AcquirerDispute[]> {
  const known = await findByInfractions(
    db,
    listed.map(({ id }) => id),
  );
  return listed.filter((seen) => {
    const stored = known.get(seen.id);
    return stored === undefined || !isUnchanged(stored, seen);
  });
}

/**
 * Applies one infraction as the acquirer lists it, and its status once: repeated, it changes nothing (decision 214).
 * What the money did is asked for before a lost dispute is announced, so that its event shows what was returned.
 */
export async function applyInfraction(deps: ApplyDeps, seen: AcquirerDispute): Promise<Applied> {
  const owner = await findChargeOfPix(deps.db, seen.endToEndId);
  if (owner.kind !== 'charge') return await leave(deps, seen, owner.kind);
  return await decideAnew('the disputed charge', () => applyOnce(deps, seen, owner.chargeId));
}

async function applyOnce(
  deps: ApplyDeps,
  seen: AcquirerDispute,
  chargeId: ChargeId,
): Promise<Applied | 'moved'> {
  const areReturnsKnown = await checkReturnsOf(deps, seen, chargeId);
  const stored = await findByInfraction(deps.db, seen.id);
  const charge = await findAnyCharge(deps.db, chargeId);
  if (charge === null) throw new AppError('INTERNAL_ERROR', { message: 'a charge vanished' });
  const dispute = {
    ...(stored ?? newDispute(seen, charge)),
    acquirerStatus: seen.status,
    acquirerDecidedAt: seen.decidedAt,
    returnedAmount: await findReturnedAmount(deps.db, seen),
  };
  const open = await findOpenDispute(deps.db, seen.endToEndId);
  const step = decideInfraction({
    stored,
    charge,
    seen,
    isContested: open !== null && open.id !== dispute.id,
    hasMedReturn: dispute.returnedAmount > 0n,
    areReturnsKnown,
    areReturnsAwaited:
      !areReturnsKnown && !isOver(seen.decidedAt ?? seen.openedAt, charge, RETURNS_UNREAD_MS_MAX),
    // A known one without a date of its decision is left to `end-blocks.ts`, which counts from when it was stored.
    isReturnWindowOver: isOver(
      seen.decidedAt ?? (stored === null ? seen.openedAt : null),
      charge,
      deps.returnWindowMs,
    ),
  });
  switch (step.kind) {
    case 'nothing':
      return await note(deps, stored, seen);
    case 'wait':
      return 'waiting';
    case 'ignored':
      await ignore(deps, charge, seen);
      return await note(deps, stored, seen);
    case 'change':
      return (await applyChange(deps, { dispute, charge, isNew: stored === null }, step))
        ? 'done'
        : 'moved';
    default:
      return assertNever(step);
  }
}

/** Only of what was lost does anything return. */
async function checkReturnsOf(
  deps: ApplyDeps,
  seen: AcquirerDispute,
  chargeId: ChargeId,
): Promise<boolean> {
  if (seen.status !== 'accepted') return true;
  const charge = await findAnyCharge(deps.db, chargeId);
  return charge === null || (await deps.checkReturns(charge, seen.endToEndId));
}

/** The acquirer shows what it showed before; only our own clock may have moved an open dispute on. */
function isUnchanged(stored: DisputeRow, seen: AcquirerDispute): boolean {
  const isSameStatus = stored.acquirerStatus === seen.status;
  const isSameDate = stored.acquirerDecidedAt?.getTime() === seen.decidedAt?.getTime();
  const isOverdue = stored.status === 'open' && stored.defenseDeadlineAt <= stored.readAt;
  return isSameStatus && isSameDate && !isOverdue;
}

/** A dispute that is not stored yet, before what the acquirer shows of it is applied. */
function newDispute(seen: AcquirerDispute, charge: ChargeRow): DisputeRow {
  return {
    acquirerStatus: seen.status,
    acquirerDecidedAt: seen.decidedAt,
    id: newId(),
    infractionId: seen.id,
    chargeId: charge.id,
    accountId: charge.accountId,
    endToEndId: seen.endToEndId,
    amount: seen.amountCents,
    status: 'open',
    reason: seen.reason,
    arrivedResolved: false,
    openedAt: seen.openedAt,
    defenseDeadlineAt: seen.deadlineAt ?? new Date(seen.openedAt.getTime() + DEFENSE_PERIOD_MS),
    resolvedAt: null,
    block: 'none',
    defenseText: null,
    defenseSentAt: null,
    intendedDefense: null,
    createdAt: charge.readAt,
    version: 0,
    returnedAmount: toCents(0n),
    readAt: charge.readAt,
  };
}

function isOver(since: Date | null, charge: ChargeRow, windowMs: number): boolean {
  return since !== null && charge.readAt.getTime() - since.getTime() >= windowMs;
}

async function ignore(deps: ApplyDeps, charge: ChargeRow, seen: AcquirerDispute): Promise<void> {
  const ignored = { event: `infraction_${seen.status}`, detail: seen.id };
  if (!(await recordIgnoredEvent(deps.db, charge, ignored))) return;
  deps.logger.warn({ charge_id: charge.id, ...ignored }, 'infraction ignored');
}

/** Records what the acquirer showed, so that the next reading of the list passes over it. */
async function note(
  deps: ApplyDeps,
  stored: DisputeRow | null,
  seen: AcquirerDispute,
): Promise<Applied | 'moved'> {
  if (stored === null) return 'done';
  const shown = { acquirerStatus: seen.status, acquirerDecidedAt: seen.decidedAt };
  return (await updateDispute(deps.db, { ...stored, ...shown })) ? 'done' : 'moved';
}

/**
 * A Pix that is not recorded yet may still be booked; one in suspense is an operator's case, and kept from being
 * accepted.
 */
async function leave(
  deps: ApplyDeps,
  seen: AcquirerDispute,
  kind: 'suspended' | 'unknown',
): Promise<Applied> {
  const log = () =>
    deps.logger.error(
      { infraction_id: seen.id, kind, status: seen.status },
      'dispute of a Pix that paid no charge',
    );
  if (kind === 'suspended') {
    if (await recordSuspendedDispute(deps.db, seen)) log();
    return 'done';
  }
  const ageMs = Date.now() - seen.openedAt.getTime();
  // Nothing is stored of it, so every reading of the list meets it again.
  if (ageMs < LOGGED_MS_MAX) log();
  if (ageMs >= UNKNOWN_PIX_MS_MAX) return 'done';
  await deps.noticePix(seen.endToEndId);
  return 'waiting';
}
