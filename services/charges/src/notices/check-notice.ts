import type { Acquirer, ReceivedPix } from '@pixmesh/acquirer/client';
import { assertNever } from '@pixmesh/kernel/app-error';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { type ChargeId, fromAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { noticeIgnored } from '#events.ts';
import { decideReceived } from '#received/decide-received.ts';
import { findRecorded } from '#received/received-pix.sql.ts';
import { recordReceived, recordUnowned } from '#received/record-received.ts';
import { readBookedReturns } from '#status-check/recorded-money.ts';
import { requestCheck } from '#charge/charge-checks.sql.ts';
import { type EndSuspendedDeps, endSuspended } from '#suspense/end-suspended.ts';

import { decideNotice, decideUnownedReturns } from './decide-notice.ts';
import { endNotice, type NoticeOutcome, type PixNotice, releaseNotice } from './pix-notices.sql.ts';

export type NoticeDeps = EndSuspendedDeps & {
  acquirer: Pick<Acquirer, 'getReceived'>;
  /** The installation's own Pix key. */
  pixKey: string;
  processingChecks: CheckPeriods;
  wakeReadBack(): void;
};

/** What one look leads to; null: it has to be repeated. */
type Seen = NoticeOutcome | null;

/**
 * One look at a leased notice: the Pix is read at the acquirer by its end-to-end id. One that names a charge of ours
 * is for a look at that charge; other money that is ours goes to suspense on the platform's account; anything else has
 * no effect (decision 217).
 */
export async function lookAtNotice(deps: NoticeDeps, notice: PixNotice): Promise<void> {
  const outcome = await look(deps, notice);
  if (outcome === null) {
    return await releaseNotice(deps.db, notice, nextCheckMs(notice.checks, deps.processingChecks));
  }
  await endNotice(deps.db, notice, outcome);
}

async function look(deps: NoticeDeps, notice: PixNotice): Promise<Seen> {
  const [recorded = null] = await findRecorded(deps.db, [notice.endToEndId]);
  if (recorded?.chargeId) return await askCharge(deps, recorded.chargeId);
  const found = await deps.acquirer.getReceived(notice.endToEndId);
  const charge = found.kind === 'found' ? await findCharge(deps, found.value) : null;
  const step = decideNotice(found, { charge, recorded, pixKey: deps.pixKey });
  switch (step.kind) {
    case 'repeat':
      return null;
    case 'keep':
      return 'suspended';
    case 'ignore':
      noticeIgnored(deps.logger, step.outcome);
      return step.outcome;
    case 'ask_charge':
      return await settleWithCharge(deps, step.charge, { notice, pix: step.pix });
    case 'suspend':
      if (recorded === null) await recordUnowned(deps, step.pix);
      return await applyReturns(deps, step.pix);
    default:
      return assertNever(step);
  }
}

async function findCharge(deps: NoticeDeps, { txid }: ReceivedPix): Promise<ChargeRow | null> {
  const id = txid === null ? null : fromAcquirerId<ChargeId>(txid);
  return id === null ? null : await findAnyCharge(deps.db, id);
}

async function askCharge(deps: NoticeDeps, id: ChargeId): Promise<NoticeOutcome> {
  await requestCheck(deps.db, id, null);
  deps.wakeReadBack();
  return 'of_charge';
}

/**
 * The charge is looked at, and its look records the Pix. Where the acquirer shows the Pix by itself and not with the
 * charge, it is recorded from here after a while: money is never dropped.
 */
async function settleWithCharge(
  deps: NoticeDeps,
  charge: ChargeRow,
  { notice, pix }: { notice: PixNotice; pix: ReceivedPix },
): Promise<Seen> {
  await askCharge(deps, charge.id);
  if (charge.status === 'processing' || notice.checks < LOOKS_OF_CHARGE) return null;
  const disposition = decideReceived(charge, pix);
  await recordReceived(deps, charge, { pix, disposition });
  return null;
}

/** How often the look at its charge may have missed a Pix before it is recorded without. */
const LOOKS_OF_CHARGE = 3;

/** Returns of a Pix that nobody owns: each takes its part of the item, and the last one ends it. */
async function applyReturns(deps: NoticeDeps, pix: ReceivedPix): Promise<Seen> {
  const plan = decideUnownedReturns(pix, await readBookedReturns(deps.db, [pix]));
  const { endToEndId } = pix;
  for (const returned of plan.returns) {
    await endSuspended(deps, { endToEndId, chargeId: null }, returned);
  }
  return plan.isReturning ? null : 'suspended';
}
