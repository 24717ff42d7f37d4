import type { Acquirer, Lookup, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { type ChargeId, fromAcquirerId } from '@pixmesh/kernel/ids';

import { requestCheck } from '#charge/charge-checks.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { decideReceived } from '#received/decide-received.ts';
import { findRecorded, type RecordedReceived } from '#received/received-pix.sql.ts';
import { recordReceived, recordUnowned } from '#received/record-received.ts';
import type { ApplyStateDeps } from '#status-check/apply-provider-state.ts';
import { applyReturns } from '#status-check/check-returns.ts';
import { loadBookedReturns } from '#status-check/recorded-money.ts';
import { endSuspended } from '#suspense/end-suspended.ts';

import { decideNotice, decideSuspendedReturns } from './decide-notice.ts';
import { noticeIgnored } from './notice-metrics.ts';
import { endNotice, type NoticeOutcome, type PixNotice, releaseNotice } from './pix-notices.sql.ts';

/** How often the check of its charge may have missed a Pix before it is recorded without. */
const CHARGE_CHECKS_MAX = 3;

export type NoticeDeps = ApplyStateDeps & {
  acquirer: Pick<Acquirer, 'getReceived'>;
  /** The installation's own Pix key. */
  pixKey: string;
  processingChecks: CheckPeriods;
  wakeStatusChecks(): void;
};

/**
 * One check of a leased notice: the acquirer is asked for the Pix by its end-to-end id. One that names a charge of ours
 * is left to a check of that charge; other money that is ours goes to suspense on the platform's account; anything else
 * has no effect (decision 217). Returns are taken from the answer about the Pix, also where it is recorded for a
 * charge: the acquirer may not show it with the charge.
 */
export async function checkNotice(deps: NoticeDeps, notice: PixNotice): Promise<void> {
  const outcome = await checkOnce(deps, notice);
  if (outcome === 'repeat') {
    return await releaseNotice(deps.db, notice, nextCheckMs(notice.checks, deps.processingChecks));
  }
  await endNotice(deps.db, notice, outcome);
}

async function checkOnce(deps: NoticeDeps, notice: PixNotice): Promise<NoticeOutcome | 'repeat'> {
  const [recorded = null] = await findRecorded(deps.db, [notice.endToEndId]);
  const chargeId = recorded?.chargeId ?? null;
  if (chargeId !== null) await requestChargeCheck(deps, chargeId);
  const found = await deps.acquirer.getReceived(notice.endToEndId);
  return chargeId !== null && recorded?.disposition === 'credit'
    ? await applyToCharge(deps, chargeId, found)
    : await applyFound(deps, notice, { recorded, found });
}

/** A Pix that is not recorded yet, or stands in suspense. */
async function applyFound(
  deps: NoticeDeps,
  notice: PixNotice,
  { recorded, found }: { recorded: RecordedReceived | null; found: Lookup<ReceivedPix> },
): Promise<NoticeOutcome | 'repeat'> {
  const charge = found.kind === 'found' ? await findNamedCharge(deps, found.value) : null;
  const step = decideNotice(found, { charge, recorded, pixKey: deps.pixKey });
  switch (step.kind) {
    case 'repeat':
      return 'repeat';
    case 'keep':
      return 'suspended';
    case 'ignore':
      noticeIgnored(deps.logger, step.outcome);
      return step.outcome;
    case 'check_charge':
      await requestChargeCheck(deps, step.charge.id);
      if (notice.checks >= CHARGE_CHECKS_MAX) await recordUnseen(deps, step);
      return 'repeat';
    case 'suspend':
      if (recorded === null) await recordUnowned(deps, step.pix);
      return await applySuspended(deps, step.pix, recorded?.chargeId ?? null);
    default:
      return assertNever(step);
  }
}

/**
 * Where the acquirer shows the Pix by itself and the checks of its charge did not record it: money is never dropped.
 * What would pay the charge waits until the charge is issued (decision 74); what cannot pay it need not, and the charge
 * may never be adopted.
 */
async function recordUnseen(
  deps: NoticeDeps,
  { charge, pix }: { charge: ChargeRow; pix: ReceivedPix },
): Promise<void> {
  const disposition = decideReceived(charge, pix);
  if (charge.status === 'processing' && disposition.kind === 'credit') return;
  await recordReceived(deps, charge, { pix, disposition });
}

async function findNamedCharge(deps: NoticeDeps, { txid }: ReceivedPix): Promise<ChargeRow | null> {
  const id = txid === null ? null : fromAcquirerId<ChargeId>(txid);
  return id === null ? null : await findAnyCharge(deps.db, id);
}

async function requestChargeCheck(deps: NoticeDeps, id: ChargeId): Promise<void> {
  await requestCheck(deps.db, id, null);
  deps.wakeStatusChecks();
}

/** A Pix that a charge was credited with: its returns move the charge. */
async function applyToCharge(
  deps: NoticeDeps,
  chargeId: ChargeId,
  found: Lookup<ReceivedPix>,
): Promise<NoticeOutcome | 'repeat'> {
  if (found.kind === 'not_found') return 'of_charge';
  const charge = found.kind === 'found' ? await findAnyCharge(deps.db, chargeId) : null;
  if (found.kind === 'unknown' || charge === null) return 'repeat';
  return (await applyReturns(deps, charge, found.value)) ? 'of_charge' : 'repeat';
}

/**
 * Returns of a Pix in suspense: each takes its part of the item, and the last one ends it. One that is under way is not
 * waited for: the job of item returns, and the list of received Pix, find its end.
 */
async function applySuspended(
  deps: NoticeDeps,
  pix: ReceivedPix,
  chargeId: ChargeId | null,
): Promise<NoticeOutcome> {
  const { endToEndId } = pix;
  const booked = await loadBookedReturns(deps.db, [pix]);
  for (const returned of decideSuspendedReturns(pix, booked)) {
    await endSuspended(deps, { endToEndId, chargeId }, returned);
  }
  return 'suspended';
}
