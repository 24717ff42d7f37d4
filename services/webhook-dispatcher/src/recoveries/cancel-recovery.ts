import { explained } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';

import { dropQueued, findRecovery, markCanceled } from './recoveries.sql.ts';
import type { RecoveryRow } from './recovery-row.ts';

/**
 * Stops a recovery and drops what it has queued in the same commit; requests that are out still bring their outcomes.
 * A step of the job that comes in between finds it canceled and is undone.
 *
 * @throws AppError `NOT_FOUND`; `CONFLICT` when it is completed
 */
export async function cancelRecovery(
  db: Database,
  id: string,
): Promise<{ recovery: RecoveryRow; repeated: boolean }> {
  const isCanceled = await db.transaction(async (tx) => {
    const isEnded = await markCanceled(tx, id);
    if (isEnded) await dropQueued(tx, id);
    return isEnded;
  });
  const recovery = await findRecovery(db, id);
  if (recovery === null) throw new AppError('NOT_FOUND');
  if (recovery.status !== 'canceled') throw explained('CONFLICT', 'It is completed.');
  return { recovery, repeated: !isCanceled };
}
