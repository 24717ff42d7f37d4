import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import type { DisputeId } from '@pixmesh/kernel/ids';

import { failpoint } from '#failpoints.ts';

import { dropIntent, intendDefense, storeDefense } from './store-defense.ts';
import type { ChangeDeps } from './apply-change.ts';
import type { DisputeRow } from './dispute-row.ts';

export type DefenseDeps = ChangeDeps & { acquirer: Pick<Acquirer, 'submitDefense'> };

/**
 * Contests an open dispute at the acquirer, which puts it under review (decision 193). What is sent is stored before:
 * where the answer is lost, the next reading of the acquirer's list shows whether it arrived, or sends it again
 * (`confirm-defenses.ts`). A repeat before the outcome is known sends the stored text again; a later one returns the
 * dispute.
 *
 * @throws AppError `DISPUTE_NOT_FOUND`, `DISPUTE_CLOSED`, `ACQUIRER_REJECTED`, `INTERNAL_ERROR` while unknown
 */
export async function sendDefense(
  deps: DefenseDeps,
  id: DisputeId,
  text: string,
): Promise<DisputeRow> {
  const step = await intendDefense(deps.db, id, text);
  if (step.kind === 'sent_before') return step.dispute;
  const { accountId, infractionId, intended, isRepeat } = step;
  const defense = { disputeId: infractionId, text: intended.text };
  const outcome = await deps.acquirer.submitDefense(defense, { accountId });
  await failpoint('charges.dispute.after-defense');
  switch (outcome.kind) {
    case 'accepted':
      return await storeDefense(deps, id, { text: intended.text, sentAt: null });
    case 'refused':
      // Of an earlier call without an answer a refusal proves nothing: it may be refused because that one arrived.
      if (!isRepeat) await dropIntent(deps.db, id, intended);
      throw new AppError('ACQUIRER_REJECTED', { publicMessage: outcome.message });
    case 'not_found':
      // Its list has shown the infraction: this answer proves nothing, and the intent stays.
      throw new AppError('INTERNAL_ERROR', {
        message: 'the acquirer does not know its infraction',
      });
    case 'unknown':
      throw new AppError('INTERNAL_ERROR', { message: `the defense is unknown: ${outcome.cause}` });
    default:
      return assertNever(outcome);
  }
}
