import type { AnswerWord } from '@pixmesh/acquirer/describe-answer';
import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';
import { inTurn } from '@pixmesh/postgres/accounts-in-turn';
import { type DueRowsJob, startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { leaseDueCharges, leaseIssuingCharges } from '#charge/charge-checks.sql.ts';
import type { LeasedCharge } from '#charge/charge-row.ts';
import type { Issuing } from '#charge/issuing/issuing.ts';

import { type CheckChargeDeps, checkChargeStatus } from './check-charge.ts';

/**
 * Exchanges with the acquirer that the job has under way at most. A callback that finds a place is checked by the
 * statement that takes it in; without a place another statement has to lease its charge. An account that is alone has 32
 * of them, however slow its checks are.
 */
const IN_FLIGHT_MAX = 40;
/** Routine checks in one run, and the pause between two runs: at most 40 a second. */
const ROUTINE_BATCH = 10;
const ROUTINE_INTERVAL_MS = 250;

export type StatusCheckDeps = CheckChargeDeps & {
  issuing: Pick<Issuing, 'check'>;
  leaseMs: number;
};

/**
 * Checks charges that may have changed at the acquirer, for as long as the process lives: requested checks and those of
 * issuing when they are due, the others a few at a time, accounts in turn.
 */
export function startStatusCheckJob(
  deps: StatusCheckDeps & { signal: WakeSignal },
): DueRowsJob<LeasedCharge> {
  const { db, logger, signal, leaseMs } = deps;
  return startDueRowsJob<LeasedCharge>({
    name: 'check charge status',
    logger,
    signal,
    inFlightMax: IN_FLIGHT_MAX,
    sources: [
      {
        take: inTurn((turn) => leaseDueCharges(db, 'requested', { ...turn, leaseMs })),
        max: IN_FLIGHT_MAX,
      },
      // A creation that waits for its answer does not stand behind those that only might be paid, and has its turn
      // beside requested checks that never end.
      { take: inTurn((turn) => leaseIssuingCharges(db, { ...turn, leaseMs })), max: IN_FLIGHT_MAX },
      {
        take: (limit, except) => leaseDueCharges(db, 'routine', { limit, except, leaseMs }),
        max: ROUTINE_BATCH,
        intervalMs: ROUTINE_INTERVAL_MS,
      },
    ],
    // What ends makes due is requested, and wakes by itself.
    wakesAtEnds: false,
    handle: async (charge) => void (await checkCharge(deps, charge)),
    describe: (charge) => ({ charge_id: charge.id }),
    parentOf: (charge) => charge.checkTraceparent,
    share: fourTimesFree,
    accountOf: (charge) => charge.accountId,
  });
}

/** The status check of a leased charge, in its issuing or after. Returns what the acquirer said. */
export async function checkCharge(
  deps: StatusCheckDeps,
  charge: LeasedCharge,
): Promise<AnswerWord> {
  return charge.status === 'processing'
    ? await deps.issuing.check(charge)
    : await checkChargeStatus(deps, charge);
}
