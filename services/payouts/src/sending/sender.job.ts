import { type AccountId } from '@pixmesh/kernel/ids';
import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { type Claim, claimDue } from './claim-due.sql.ts';
import { sendPayout } from './send-payout.ts';
import { ensureSlots } from './send-slots.sql.ts';
import type { SendingDeps } from './sending-deps.ts';

/** How late after its claim a call may begin and still end within the slot's lease. */
const START_MARGIN_MS = 2_000;
/** Sorts before every account. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000' as AccountId;

/** A claim, and until when its call may begin. */
type TimedClaim = Claim & { callBeforeMs: number };

/**
 * Sends due payouts for as long as the process lives. Calls in flight are bounded by the slots over all
 * replicas; accounts take turns (decision 132).
 */
export function startSender(deps: SendingDeps & { signal: WakeSignal }): PollingLoop {
  let haveSlots = false;
  const leaseMs = deps.acquirerTimeoutMs + START_MARGIN_MS;
  // A hint for fairness only: every replica walks the ring by itself.
  let servedLast = BEFORE_ALL;
  return startDueRowsJob<TimedClaim>({
    name: 'send payout',
    logger: deps.logger,
    signal: deps.signal,
    inFlightMax: deps.slots,
    intakes: [{ take, max: deps.slots }],
    handle: (claim) => sendPayout(deps, claim, claim.callBeforeMs),
    describe: (claim) => ({ payout_id: claim.payout.id }),
    parentOf: (claim) => claim.payout.checkTraceparent,
  });

  async function take(limit: number): Promise<TimedClaim[]> {
    const { slots } = deps;
    if (!haveSlots) await ensureSlots(deps.db, slots);
    haveSlots = true;
    const callBeforeMs = performance.now() + START_MARGIN_MS;
    const claims = await claimDue(deps.db, { limit, slots, leaseMs, after: servedLast });
    const last = claims.reduce<Claim | null>(
      (latest, claim) => (latest === null || claim.turn > latest.turn ? claim : latest),
      null,
    );
    servedLast = last?.payout.accountId ?? servedLast;
    return claims.map((claim) => ({ ...claim, callBeforeMs }));
  }
}
