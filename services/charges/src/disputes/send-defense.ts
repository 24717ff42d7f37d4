import type { Acquirer } from '@pixmesh/acquirer/client';
import { failpoint } from '@pixmesh/http/failpoints';
import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import type { DisputeId } from '@pixmesh/kernel/ids';

import { findAnyCharge } from '#charges/charges.sql.ts';

import { applyChange, type ChangeDeps } from './apply-change.ts';
import { review } from './decide-infraction.ts';
import type { DisputeRow } from './dispute-row.ts';
import { findDispute } from './disputes.sql.ts';

const TRIES_MAX = 5;

type DefenseDeps = ChangeDeps & { acquirer: Pick<Acquirer, 'submitDefense'> };

/**
 * Contests an open dispute at the acquirer, which puts it under review (decision 193). An unknown outcome changes
 * nothing here: the same call again is safe, and the list tells what became of it.
 *
 * @throws AppError `DISPUTE_NOT_FOUND`, `DISPUTE_CLOSED`, `ACQUIRER_REJECTED`, `INTERNAL_ERROR` while unknown
 */
export async function sendDefense(
  deps: DefenseDeps,
  id: DisputeId,
  text: string,
): Promise<DisputeRow> {
  const before = await readOpen(deps, id);
  const outcome = await deps.acquirer.submitDefense({ disputeId: before.infractionId, text });
  await failpoint('charges.dispute.after-defense');
  switch (outcome.kind) {
    case 'accepted':
      return await storeDefense(deps, id, text);
    case 'refused':
      throw new AppError('ACQUIRER_REJECTED', { publicMessage: outcome.message });
    case 'not_found':
      throw new AppError('INTERNAL_ERROR', {
        message: 'the acquirer does not know its infraction',
      });
    case 'unknown':
      throw new AppError('INTERNAL_ERROR', { message: `the defence is unknown: ${outcome.cause}` });
    default:
      return assertNever(outcome);
  }
}

/** What the acquirer has accepted is kept whatever became of the dispute meanwhile. */
async function storeDefense(deps: DefenseDeps, id: DisputeId, text: string): Promise<DisputeRow> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const dispute = await readDispute(deps, id);
    const charge = await findAnyCharge(deps.db, dispute.chargeId);
    if (charge === null) throw new AppError('INTERNAL_ERROR', { message: 'a charge vanished' });
    const defended = { ...dispute, defenseText: text, defenseSentAt: dispute.readAt };
    const status = dispute.status === 'open' ? 'under_review' : dispute.status;
    const change = { ...review(charge), status } as const;
    const standing = { dispute: defended, charge, isNew: false };
    if (await applyChange(deps, standing, change)) return await readDispute(deps, id);
  }
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the dispute kept moving' });
}

async function readOpen(deps: DefenseDeps, id: DisputeId): Promise<DisputeRow> {
  const dispute = await readDispute(deps, id);
  if (dispute.status !== 'open') throw new AppError('DISPUTE_CLOSED');
  return dispute;
}

async function readDispute(deps: DefenseDeps, id: DisputeId): Promise<DisputeRow> {
  const dispute = await findDispute(deps.db, id);
  if (dispute === null) throw new AppError('DISPUTE_NOT_FOUND');
  return dispute;
}
