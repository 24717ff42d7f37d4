import type { AccountsBehind } from './accounts-behind.ts';
import { isOfNow } from './is-of-now.ts';
import { deliveriesMaxOf, type SubscribedEvent } from './subscribed-events.ts';

/** Deliveries of one account in a batch, and of all accounts in a transaction. */
export const SHARE_MAX = 1_000;
/** Of an account whose events wait already. */
const USED_UP = Number.POSITIVE_INFINITY;

/**
 * The share of each account: what one transaction takes, and at least one event. Where something of an account waits
 * already, all of it does, so that its newest events do not go first. An event that may be too old to be stored never
 * waits: only the intake can refuse its message.
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
