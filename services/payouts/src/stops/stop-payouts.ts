import { AppError } from '@pixmesh/kernel/app-error';
import type { OperatorId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { payoutsResumed, payoutsStopped } from '#reports.ts';

import { endStop, findLatestStop, insertStop, type StopRow } from './payout-stops.sql.ts';

/** Between a refused insert and its read an operator may end the stop; then it is set anew. */
const TRIES_MAX = 3;

export type StopsDeps = {
  db: Database;
  logger: Logger;
  /** There may be payouts to send again. */
  wakeSender(): void;
};

/** `repeated`: it was so before the call. */
export type ChangedStop = { stop: StopRow; repeated: boolean };

/**
 * Stops payouts of an account, or of all (null). From its answer on no payout is taken up by a sender, and new ones
 * wait for approval; a call to the acquirer that a sender had begun is not recalled.
 */
export async function stopPayouts(
  { db, logger }: StopsDeps,
  order: { accountId: string | null; reason: string; operatorId: OperatorId },
): Promise<ChangedStop> {
  const { accountId, reason, operatorId: setBy } = order;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const stop = await insertStop(db, { accountId, reason, setBy });
    if (stop !== null) {
      payoutsStopped(logger, stop);
      return { stop, repeated: false };
    }
    const present = await findLatestStop(db, accountId);
    if (present?.endedAt === null) return { stop: present, repeated: true };
  }
  throw new AppError('INTERNAL_ERROR', { message: 'the stop of payouts kept changing' });
}

/**
 * Ends the stop of an account, or of all (null): what waits unsent is sent from now on. What waits for approval goes on
 * waiting, since its reason has been shown.
 * @throws AppError `NOT_FOUND` where there never was one
 */
export async function resumePayouts(
  { db, logger, wakeSender }: StopsDeps,
  order: { accountId: string | null; operatorId: OperatorId },
): Promise<ChangedStop> {
  const ended = await endStop(db, order.accountId, order.operatorId);
  if (ended !== null) {
    payoutsResumed(logger, ended);
    wakeSender();
    return { stop: ended, repeated: false };
  }
  const latest = await findLatestStop(db, order.accountId);
  if (latest === null) throw new AppError('NOT_FOUND');
  return { stop: latest, repeated: true };
}
