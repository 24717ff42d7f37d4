import { currentAccount } from '@pixmesh/fair-share/current-account';
import type { Groups } from '@pixmesh/fair-share/groups';
import type { DueRowsJob } from '@pixmesh/postgres/due-rows-job';

import type { PayoutRow } from '#payouts/payout-row.ts';

import type { HeldSlot } from './held-slots.ts';
import { START_MARGIN_MS, timed, type TimedClaim } from './timed-claim.ts';

/**
 * Sends at once what `commit` makes: where this process holds a slot, `commit` may count the call in its own
 * statement, so that it is made when `leaseMs` are over. Null where it may not; then a claim takes the payout up.
 */
export type SendAtOnce = <Made extends PayoutRow>(
  commit: (leaseMs: number | null) => Promise<Made | null>,
) => Promise<Made | null>;

export function createSendAtOnce(deps: {
  job: Pick<DueRowsJob<TimedClaim>, 'takeNow'>;
  groups: Groups;
  acquirerTimeoutMs: number;
  takeSlot(): HeldSlot | null;
  keepSlot(slot: HeldSlot): void;
  /** A payout waits for a claim. */
  wakeSender(): void;
}): SendAtOnce {
  const { job, groups, acquirerTimeoutMs, takeSlot, keepSlot, wakeSender } = deps;
  return async (commit) => {
    const slot = groups.mustWait(currentAccount()) ? null : takeSlot();
    const made = await (slot === null ? commit(null) : commitInSlot(slot, commit));
    // What an account has to wait with is looked for when its group has ended.
    const isQueued = made !== null && made.sendAt !== null;
    if (isQueued && !groups.mustWait(made.accountId)) wakeSender();
    return made;
  };

  async function commitInSlot<Made extends PayoutRow>(
    slot: HeldSlot,
    commit: (leaseMs: number | null) => Promise<Made | null>,
  ): Promise<Made | null> {
    let made: Made | null = null;
    let isCounted = false;
    try {
      await job.takeNow(1, async (places) => {
        const begunMs = performance.now();
        made = await commit(places > 0 ? acquirerTimeoutMs + START_MARGIN_MS : null);
        if (made === null || places === 0 || made.unansweredCalls === 0) return [];
        isCounted = true;
        groups.note(made.accountId);
        return [timed({ ...slot, payout: made, formerCallAt: null }, begunMs, acquirerTimeoutMs)];
      });
    } finally {
      if (!isCounted) keepSlot(slot);
    }
    return made;
  }
}
