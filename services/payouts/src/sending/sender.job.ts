import { createContention } from '@pixmesh/fair-share/contention';
import { createYoungCalls } from '@pixmesh/fair-share/young-calls';
import { inTurn } from '@pixmesh/postgres/accounts-in-turn';
import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import type { PayoutRow } from '#payouts/payout-row.ts';

import { type Claim, claimDue } from './claim-due.sql.ts';
import { createHeldSlots, type HeldSlot } from './held-slots.ts';
import { sendPayout } from './send-payout.ts';
import { ensureSlots } from './send-slots.sql.ts';
import type { SendingDeps } from './sending-deps.ts';

/** How late after its claim a call may begin. */
export const START_MARGIN_MS = 2_000;
/** Slots are leased for one call and this much longer, so that the same slot can serve further calls. */
const SLOT_HOLD_MS = 4_000;
/**
 * What sends of one account that have just begun may have of the slots, beside those of others. Where the acquirer
 * answers at once, more would only fill the CPU; where it takes longer, they no longer count.
 */
const YOUNG_SHARE = 0.25;
/** A claim, until when its call may begin, and the slot that it has. */
type TimedClaim = Claim & HeldSlot & { callBeforeMs: number; accountId: AccountId };

type SenderDeps = SendingDeps & {
  signal: WakeSignal;
  /** Calls without an answer yet, over all replicas (decision 132). */
  slots: number;
};

export type Sender = PollingLoop & {
  /**
   * Sends at once what `commit` makes: where this process holds a slot, `commit` may count the call in its own
   * statement, so that it is made when `leaseMs` are over. Null where it may not; then a claim takes the payout up.
   */
  sendAtOnce<Made extends PayoutRow>(
    commit: (leaseMs: number | null) => Promise<Made | null>,
  ): Promise<Made | null>;
};

/**
 * Sends due payouts for as long as the process lives. Calls in flight are bounded by the slots over all
 * replicas; accounts take turns (decision 132). Slots are few, and none is left free for the next account (ADR 0024).
 */
export function startSender(deps: SenderDeps): Sender {
  const { db, logger, slots, signal, acquirerTimeoutMs } = deps;
  const callMs = acquirerTimeoutMs + START_MARGIN_MS;
  const held = createHeldSlots({ db, logger, callMs });
  const beginSend = createSpreadSends(slots);
  let haveSlots = false;
  /** Whether due payouts may wait for a slot: then the end of a call is a reason to claim. */
  let mayWaitForSlots = true;
  const job = startDueRowsJob<TimedClaim>({
    name: 'send payout',
    logger,
    signal,
    inFlightMax: slots,
    sources: [{ take: inTurn(take), max: slots }],
    handle: (claim) =>
      beginSend({ account: claim.accountId, timeLeftMs: START_MARGIN_MS }, () =>
        sendPayout({ ...deps, keepSlot: async () => keepSlot(claim) }, claim, claim.callBeforeMs),
      ),
    wakesAtEnds: false,
    describe: (claim) => ({ payout_id: claim.payout.id }),
    parentOf: (claim) => claim.payout.checkTraceparent,
    accountOf: (claim) => claim.accountId,
  });
  return {
    isAlive: job.isAlive,
    sendAtOnce,
    [Symbol.asyncDispose]: () => disposeInTurn(job, held),
  };

  async function take(turn: { limit: number; after: AccountId }): Promise<TimedClaim[]> {
    if (!haveSlots) await ensureSlots(db, slots);
    haveSlots = true;
    const own = held.takeAll();
    const begunMs = performance.now();
    const leases = { leaseMs: callMs, slotLeaseMs: callMs + SLOT_HOLD_MS };
    let claims: Claim[] = [];
    // A call that ends during the claim frees a slot that the claim does not see.
    mayWaitForSlots = true;
    try {
      claims = await claimDue(db, { ...turn, ...leases, slots, held: own });
    } finally {
      const left = own.filter(({ slot }) => !claims.some((claim) => claim.slot === slot));
      held.keep(left);
      mayWaitForSlots = left.length === 0;
    }
    const untilMs = begunMs + leases.slotLeaseMs;
    return claims.map((claim) => timed({ ...claim, untilMs }, begunMs, acquirerTimeoutMs));
  }

  function keepSlot({ slot, slotToken, untilMs }: HeldSlot): void {
    held.keep([{ slot, slotToken, untilMs }]);
    if (mayWaitForSlots) signal.notify();
  }

  async function sendAtOnce<Made extends PayoutRow>(
    commit: (leaseMs: number | null) => Promise<Made | null>,
  ): Promise<Made | null> {
    const slot = held.take();
    if (slot === null) return await commit(null);
    let made: Made | null = null;
    let isCounted = false;
    try {
      await job.takeNow(1, async (places) => {
        const begunMs = performance.now();
        made = await commit(places > 0 ? callMs : null);
        if (made === null || places === 0 || made.unansweredCalls === 0) return [];
        isCounted = true;
        return [timed({ ...slot, payout: made, formerCallAt: null }, begunMs, acquirerTimeoutMs)];
      });
    } finally {
      if (!isCounted) keepSlot(slot);
    }
    return made;
  }
}

function createSpreadSends(slots: number) {
  return createYoungCalls({
    name: 'young sends',
    aloneMax: slots,
    besideOthersMax: Math.ceil(slots * YOUNG_SHARE),
    contention: createContention(),
  });
}

/** A call begins soon after it was counted, and ends within the lease of its slot. */
function timed(claim: Claim & HeldSlot, countedMs: number, callTimeoutMs: number): TimedClaim {
  const callBeforeMs = Math.min(countedMs + START_MARGIN_MS, claim.untilMs - callTimeoutMs);
  return { ...claim, callBeforeMs, accountId: claim.payout.accountId };
}

async function disposeInTurn(...parts: readonly AsyncDisposable[]): Promise<void> {
  for (const part of parts) await part[Symbol.asyncDispose]();
}
