import type { Acquirer, AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChangeDeps } from './apply-change.ts';
import { type DisputeRow, isOpen } from './dispute-row.ts';
import { findIntendedDefenses } from './disputes.sql.ts';
import { dropIntent, storeDefense } from './store-defense.ts';

export type ConfirmDeps = ChangeDeps & {
  logger: Logger;
  acquirer: Pick<Acquirer, 'submitDefense'>;
};

type Intended = NonNullable<DisputeRow['intendedDefense']>;

/**
 * Finds out what became of defenses whose answer was lost: the acquirer's list shows which of them it has received. One
 * that it has not, while the infraction is open there, is sent again, since a repeat is harmless. One that was intended
 * after the reading began (`readFrom`) may be on its way, and the list does not show it yet.
 */
export async function confirmDefenses(
  deps: ConfirmDeps,
  listed: readonly AcquirerDispute[],
  readFrom: Date,
): Promise<void> {
  const byId = new Map(listed.map((seen) => [seen.id, seen]));
  for (const dispute of await findIntendedDefenses(deps.db, [...byId.keys()])) {
    const seen = byId.get(dispute.infractionId);
    const intended = dispute.intendedDefense;
    if (seen === undefined || intended === null || intended.at > readFrom) continue;
    await confirmDefense(deps, dispute, { seen, intended }).catch((error: unknown) => {
      deps.logger.error({ err: error, dispute_id: dispute.id }, 'defense not confirmed');
    });
  }
}

async function confirmDefense(
  deps: ConfirmDeps,
  dispute: DisputeRow,
  { seen, intended }: { seen: AcquirerDispute; intended: Intended },
): Promise<void> {
  if (seen.defenseReceivedAt !== null) {
    const { text } = intended;
    await storeDefense(deps, dispute.id, { text, sentAt: seen.defenseReceivedAt });
    return;
  }
  switch (seen.status) {
    case 'open':
      return await sendAgain(deps, dispute, intended);
    case 'under_review':
      // The receipt may show later than the status.
      return;
    case 'accepted':
    case 'rejected':
    case 'canceled':
      return await giveUp(deps, dispute, intended);
    default:
      return assertNever(seen.status);
  }
}

async function sendAgain(
  deps: ConfirmDeps,
  dispute: DisputeRow,
  intended: Intended,
): Promise<void> {
  // Ended here while it is open there: by a refund in full (decision 79), after which there is nothing to contest.
  if (!isOpen(dispute)) return await giveUp(deps, dispute, intended);
  const { text } = intended;
  const { infractionId: disputeId, accountId } = dispute;
  const outcome = await deps.acquirer.submitDefense({ disputeId, text }, { accountId });
  switch (outcome.kind) {
    case 'accepted':
      await storeDefense(deps, dispute.id, { text, sentAt: null });
      return;
    case 'refused':
      // The list has shown that nothing arrived, so this one counts.
      return await giveUp(deps, dispute, intended);
    case 'not_found':
      // The list shows it as open, so that this answer proves nothing.
      return;
    case 'unknown':
      return;
    default:
      return assertNever(outcome);
  }
}

async function giveUp(deps: ConfirmDeps, dispute: DisputeRow, intended: Intended): Promise<void> {
  deps.logger.error({ dispute_id: dispute.id }, 'defense given up: the acquirer never received it');
  await dropIntent(deps.db, dispute.id, intended);
}
