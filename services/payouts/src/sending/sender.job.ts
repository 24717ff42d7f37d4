import type { AccountId } from '@pixmesh/kernel/ids';
import { inTurn } from '@pixmesh/postgres/accounts-in-turn';
import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { type Claim, claimDue } from './claim-due.sql.ts';
import { sendPayout } from './send-payout.ts';
import { ensureSlots } from './send-slots.sql.ts';
import type { SendingDeps } from './sending-deps.ts';

/** How late after its claim a call may begin and still end within the slot's lease. */
const START_MARGIN_MS = 2_000;
/** A claim, and until when its call may begin. */
type TimedClaim = Claim & { callBeforeMs: number; accountId: AccountId };

/**
 * Sends due payouts for as long as the process lives. Calls in flight are bounded by the slots over all
 * replicas; accounts take turns (decision 132).
 */
export function startSender(deps: SendingDeps & { signal: WakeSignal }): PollingLoop {
  let haveSlots = false;
  const leaseMs = deps.acquirerTimeoutMs + START_MARGIN_MS;
  return startDueRowsJob<TimedClaim>({
    name: 'send payout',
    logger: deps.logger,
    signal: deps.signal,
    inFlightMax: deps.slots,
    intakes: [{ take: inTurn(take), max: deps.slots }],
    handle: (claim) => sendPayout(deps, claim, claim.callBeforeMs),
    describe: (claim) => ({ payout_id: claim.payout.id }),
    parentOf: (claim) => claim.payout.checkTraceparent,
    accountOf: (claim) => claim.accountId,
  });

  async function take(turn: { limit: number; after: AccountId }): Promise<TimedClaim[]> {
    const { slots } = deps;
    if (!haveSlots) await ensureSlots(deps.db, slots);
    haveSlots = true;
    const callBeforeMs = performance.now() + START_MARGIN_MS;
    const claims = await claimDue(deps.db, { ...turn, slots, leaseMs });
    return claims.map((claim) => ({ ...claim, callBeforeMs, accountId: claim.payout.accountId }));
  }
}
