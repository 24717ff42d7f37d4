import { timeOfId } from '@pixmesh/kernel/ids';

import type { AccountsBehind } from './accounts-behind.ts';
import { deliveriesMaxOf, type SubscribedEvent } from './subscribed-events.ts';

/** Deliveries of one account in a batch, and of all accounts in a transaction. */
export const SHARE_MAX = 1_000;
/** Of an account whose events wait already. */
const USED_UP = Number.POSITIVE_INFINITY;
/** History of so long ago is always retained, and of so soon prepared. */
const NOW_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * The share of each account: what one transaction takes, and at least one event. Where something of an account waits
 * already, all of it does, so that its newest events do not go first. An event that may be too old to be stored is
 * tried now: nobody hears of a refusal later.
 */
export function splitByShare(
  events: readonly SubscribedEvent[],
  behind: Pick<AccountsBehind, 'has'>,
): { shares: SubscribedEvent[]; others: SubscribedEvent[] } {
  const used = new Map<string, number>();
  const shares: SubscribedEvent[] = [];
  const others: SubscribedEvent[] = [];
  for (const event of events) {
    const before = used.get(event.accountId) ?? (behind.has(event.accountId) ? USED_UP : 0);
    const after = before + deliveriesMaxOf(event);
    const isWithin = before === 0 || after <= SHARE_MAX;
    used.set(event.accountId, isWithin ? after : USED_UP);
    (isWithin || !isOfNow(event) ? shares : others).push(event);
  }
  return { shares, others };
}

function isOfNow({ eventId }: { eventId: string }): boolean {
  return Math.abs(timeOfId(eventId).getTime() - Date.now()) <= NOW_MS;
}
