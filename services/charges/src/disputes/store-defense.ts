import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId, DisputeId } from '@pixmesh/kernel/ids';
import { decideAnew } from '@pixmesh/postgres/decide-anew';
import type { Database } from '@pixmesh/postgres/pool';

import { findAnyCharge } from '#charge/charges.sql.ts';

import { applyChange, type ChangeDeps } from './apply-change.ts';
import { review } from './decide-infraction.ts';
import type { DisputeRow } from './dispute-row.ts';
import { findDispute, updateDispute } from './disputes.sql.ts';

type Intended = NonNullable<DisputeRow['intendedDefense']>;

export type IntendStep =
  /** What has to be sent; `isRepeat`: an earlier call has no definite answer yet. */
  | {
      kind: 'send';
      accountId: AccountId;
      infractionId: string;
      intended: Intended;
      isRepeat: boolean;
    }
  /** The same words have reached the acquirer already. */
  | { kind: 'sent_before'; dispute: DisputeRow };

/**
 * Stores what is about to be sent. The first intent stays until its outcome is known: the acquirer may have it.
 * @throws AppError `DISPUTE_NOT_FOUND`, `DISPUTE_CLOSED`
 */
export async function intendDefense(
  db: Database,
  id: DisputeId,
  text: string,
): Promise<IntendStep> {
  return await decideAnew('the dispute', async () => {
    const dispute = await readDispute(db, id);
    if (dispute.defenseText === text) return { kind: 'sent_before', dispute };
    if (dispute.status !== 'open') throw new AppError('DISPUTE_CLOSED');
    const { accountId, infractionId, intendedDefense: earlier } = dispute;
    const intended = { text: earlier?.text ?? text, at: dispute.readAt };
    if (!(await updateDispute(db, { ...dispute, intendedDefense: intended }))) return 'moved';
    return { kind: 'send', accountId, infractionId, intended, isRepeat: earlier !== null };
  });
}

/** Drops what never reached the acquirer. One that was sent again meanwhile stays. */
export async function dropIntent(db: Database, id: DisputeId, intended: Intended): Promise<void> {
  await decideAnew('the dispute', async () => {
    const dispute = await readDispute(db, id);
    if (dispute.intendedDefense?.at.getTime() !== intended.at.getTime()) return 'dropped';
    return (await updateDispute(db, { ...dispute, intendedDefense: null })) ? 'dropped' : 'moved';
  });
}

/**
 * What the acquirer has accepted is stored whatever became of the dispute meanwhile; only an open one comes under
 * review by it. `sentAt` is the acquirer's time of receipt, null for now.
 */
export async function storeDefense(
  deps: ChangeDeps,
  id: DisputeId,
  sent: { text: string; sentAt: Date | null },
): Promise<DisputeRow> {
  return await decideAnew('the dispute', async () => {
    const dispute = await readDispute(deps.db, id);
    const defended: DisputeRow = {
      ...dispute,
      defenseText: dispute.defenseText ?? sent.text,
      defenseSentAt: dispute.defenseSentAt ?? sent.sentAt ?? dispute.readAt,
      intendedDefense: null,
    };
    return (await writeDefense(deps, defended)) ? await readDispute(deps.db, id) : 'moved';
  });
}

async function writeDefense(deps: ChangeDeps, defended: DisputeRow): Promise<boolean> {
  if (defended.status !== 'open') return await updateDispute(deps.db, defended);
  const charge = await findAnyCharge(deps.db, defended.chargeId);
  if (charge === null) throw new AppError('INTERNAL_ERROR', { message: 'a charge vanished' });
  return await applyChange(deps, { dispute: defended, charge, isNew: false }, review(charge));
}

/** @throws AppError `DISPUTE_NOT_FOUND` */
export async function readDispute(db: Database, id: DisputeId): Promise<DisputeRow> {
  const dispute = await findDispute(db, id);
  if (dispute === null) throw new AppError('DISPUTE_NOT_FOUND');
  return dispute;
}
