import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';
import { inTurn } from '@pixmesh/postgres/accounts-in-turn';
import { type DueRowsJob, startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import type { PayoutRow } from '#payouts/payout-row.ts';

import { checkPayoutStatus } from './check-payout.ts';
import { leaseDuePayouts } from './payout-checks.sql.ts';
import type { StatusCheckDeps } from './status-check-deps.ts';

/** Exchanges with the acquirer that the job has under way at most, 32 of them for an account that is alone. */
const IN_FLIGHT_MAX = 40;
/**
 * Routine checks in one run, and the pause between two runs: at most 320 a second, so that ten thousand payouts
 * without an answer are checked within a minute.
 */
const ROUTINE_BATCH = 32;
const ROUTINE_INTERVAL_MS = 100;

/**
 * Checks the status of payouts that may have changed at the acquirer, and settles intents that their calls left behind,
 * for as long as the process lives: requested checks at once, routine checks a few at a time, accounts in turn.
 */
export function startStatusCheckJob(
  deps: StatusCheckDeps & { signal: WakeSignal; leaseMs: number; wakePostponing(): void },
): DueRowsJob<PayoutRow> {
  const { db, leaseMs } = deps;
  return startDueRowsJob({
    name: 'check payout status',
    logger: deps.logger,
    signal: deps.signal,
    inFlightMax: IN_FLIGHT_MAX,
    sources: [
      {
        take: inTurn((turn) => leaseDuePayouts(db, 'requested', { ...turn, leaseMs })),
        max: IN_FLIGHT_MAX,
      },
      {
        take: leaseRoutine,
        max: ROUTINE_BATCH,
        intervalMs: ROUTINE_INTERVAL_MS,
      },
    ],
    // What ends makes due is requested, and wakes by itself.
    wakesAtEnds: false,
    handle: (payout) => checkPayoutStatus(deps, payout),
    describe: (payout) => ({ payout_id: payout.id }),
    parentOf: (payout) => payout.checkTraceparent,
    share: fourTimesFree,
    accountOf: (payout) => payout.accountId,
  });

  /** What is found due by the index alone may be due later: as often as it is asked for, it has to be put off. */
  async function leaseRoutine(limit: number, except: readonly string[]): Promise<PayoutRow[]> {
    deps.wakePostponing();
    return await leaseDuePayouts(db, 'routine', { limit, except, leaseMs });
  }
}
