import { createContention } from '@pixmesh/fair-share/contention';
import { createGroups } from '@pixmesh/fair-share/groups';
import { inTurn, type InTurn } from '@pixmesh/postgres/accounts-in-turn';
import { type DueRowsJob, startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { type Claim, claimDue } from './claim-due.sql.ts';
import { createHeldSlots, type HeldSlot } from './held-slots.ts';
import { createSendAtOnce, type SendAtOnce } from './send-at-once.ts';
import { sendPayout } from './send-payout.ts';
import { ensureSlots, letSlotWait } from './send-slots.sql.ts';
import type { SendingDeps } from './sending-deps.ts';
import { START_MARGIN_MS, timed, type TimedClaim } from './timed-claim.ts';

/** Slots are leased for one call and this much longer, so that the same slot can serve further calls. */
const SLOT_HOLD_MS = 4_000;
/** A whole group is as many as can be sent together, and not fewer than these. */
const GROUP_MIN = 8;
/** Beside others, one slot is left to the next claim, where all accounts have their turns. */
const LEFT_TO_CLAIM = 1;

type SenderDeps = SendingDeps & {
  signal: WakeSignal;
  /** Calls without an answer yet, over all replicas (decision 132). */
  slots: number;
  /** How long a slot waits for the end of the payout that it has sent; 0: not at all. */
  slotWaitMs: number;
};

export type Sender = Omit<DueRowsJob<TimedClaim>, 'takeNow'> & { sendAtOnce: SendAtOnce };

/**
 * Sends due payouts for as long as the process lives. Calls in flight are bounded by the slots over all
 * replicas; accounts take turns (decision 132), and beside each other they send in groups (ADR 0023). Slots are few, and
 * claims leave none free for the next account (ADR 0024). With `slotWaitMs` no slot is kept between two calls, so that
 * all that is sent is claimed.
 */
export function startSender(deps: SenderDeps): Sender {
  const { db, logger, slots, slotWaitMs, signal, acquirerTimeoutMs } = deps;
  const callMs = acquirerTimeoutMs + START_MARGIN_MS;
  const held = createHeldSlots({ db, logger, callMs });
  const contention = createContention();
  const size = Math.max(slots, GROUP_MIN);
  const groups = createGroups({ size, contention, opened: signal.notify });
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
      sendPayout({ ...deps, keepSlot: () => callEnded(claim) }, claim, claim.callBeforeMs),
    leaveOut: groups.waiting,
    wakesAtEnds: false,
    describe: (claim) => ({ payout_id: claim.payout.id }),
    parentOf: (claim) => claim.payout.checkTraceparent,
    accountOf: (claim) => claim.accountId,
  });
  const sendAtOnce = createSendAtOnce({
    job,
    groups,
    acquirerTimeoutMs,
    takeSlot: () => held.take(contention.isContended() ? LEFT_TO_CLAIM : 0),
    keepSlot,
    wakeSender: signal.notify,
  });
  return {
    isAlive: job.isAlive,
    takeNoMore: job.takeNoMore,
    sendAtOnce,
    [Symbol.asyncDispose]: () => disposeInTurn(job, held),
  };

  async function take(turn: InTurn): Promise<TimedClaim[]> {
    if (!haveSlots) await ensureSlots(db, slots);
    haveSlots = true;
    const own = held.takeAll();
    const begunMs = performance.now();
    // A sender that dies in a call leaves its slot waiting, too.
    const leases = { leaseMs: callMs, slotLeaseMs: callMs + (slotWaitMs || SLOT_HOLD_MS) };
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
    for (const { payout } of claims) groups.note(payout.accountId);
    const untilMs = begunMs + leases.slotLeaseMs;
    return claims.map((claim) => timed({ ...claim, untilMs }, begunMs, acquirerTimeoutMs));
  }

  async function callEnded(claim: TimedClaim): Promise<void> {
    if (slotWaitMs === 0) return keepSlot(claim);
    const wait = { payoutId: claim.payout.id, waitMs: slotWaitMs };
    await letSlotWait(db, claim, wait).catch((error: unknown) => {
      logger.warn({ err: error }, 'send slot does not wait for its payout, its lease will end');
    });
  }

  function keepSlot({ slot, slotToken, untilMs }: HeldSlot): void {
    held.keep([{ slot, slotToken, untilMs }]);
    if (mayWaitForSlots) signal.notify();
  }
}

async function disposeInTurn(...parts: readonly AsyncDisposable[]): Promise<void> {
  for (const part of parts) await part[Symbol.asyncDispose]();
}
