import assert from 'node:assert';

import { stopsPayouts } from '@pixmesh/contracts/internal/account-breaks';
import { SET_BY_RECONCILIATION } from '@pixmesh/contracts/internal/payout-stops';
import type { Transaction } from '@pixmesh/postgres/pool';

import { payoutsStopped } from '#reports.ts';

import { findLatestStop, insertStop, type StopRow } from './payout-stops.sql.ts';
import {
  findUnseenBreaks,
  insertStopBreaks,
  lockStops,
  type SeenBreak,
} from './stop-breaks.sql.ts';
import type { StopsDeps } from './stop-payouts.ts';

/**
 * Stops payouts of the accounts whose books disagree (decision 262). A break stops once: under a stop that is in force
 * it changes nothing, and what an operator has ended stays ended for as long as the break lasts.
 */
export async function stopAtBreaks(
  { db, logger }: Pick<StopsDeps, 'db' | 'logger'>,
  breaks: readonly SeenBreak[],
): Promise<void> {
  const stopping = breaks.filter(stopsPayouts);
  if ((await findUnseenBreaks(db, stopping)).length === 0) return;
  const stops = await db.transaction(async (tx) => {
    await lockStops(tx);
    // Asked again under the lock: another process may have stopped for them, and an operator ended it.
    const unseen = await findUnseenBreaks(tx, stopping);
    const accounts = Map.groupBy(unseen, ({ account_id: accountId }) => accountId);
    const set: StopRow[] = [];
    for (const [accountId, ofAccount] of accounts) {
      const { stop, isNew } = await stopFor(tx, accountId, ofAccount);
      await insertStopBreaks(tx, stop.id, ofAccount);
      if (isNew) set.push(stop);
    }
    return set;
  });
  for (const stop of stops) payoutsStopped(logger, stop);
}

/** The stop that is in force for an account, or for all (null): the present one, or a new one. */
async function stopFor(
  tx: Transaction,
  accountId: string | null,
  [first]: readonly SeenBreak[],
): Promise<{ stop: StopRow; isNew: boolean }> {
  assert(first, 'a stop has a break');
  const reason = `reconciliation of ${first.service}: ${first.check} ${first.kind} ${first.id}`;
  const stop = await insertStop(tx, { accountId, reason, setBy: SET_BY_RECONCILIATION });
  if (stop !== null) return { stop, isNew: true };
  const present = await findLatestStop(tx, accountId);
  assert(present, 'what refused the insert is there');
  return { stop: present, isNew: false };
}
