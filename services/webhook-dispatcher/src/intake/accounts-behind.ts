import type { WakeSignal } from '@pixmesh/service/wake-signal';

/**
 * Accounts whose events wait to be fanned out, as far as this process knows: what it has set aside itself, and what its
 * fan-out has found. A hint. An event that is fanned out before older ones of its account is stored all the same.
 */
export type AccountsBehind = {
  has(accountId: string): boolean;
  /** Notes accounts of events that were set aside, and wakes the fan-out. */
  add(events: readonly { accountId: string }[]): void;
  /** For the fan-out, when it has looked at an account. */
  note(accountId: string, isBehind: boolean): void;
  /** For the fan-out, when it has found nothing of anybody. */
  clear(): void;
};

export function createAccountsBehind(signal: Pick<WakeSignal, 'notify'>): AccountsBehind {
  const accounts = new Set<string>();
  return {
    has: (accountId) => accounts.has(accountId),
    add: (events) => {
      for (const { accountId } of events) accounts.add(accountId);
      signal.notify();
    },
    note: (accountId, isBehind) => {
      if (isBehind) accounts.add(accountId);
      else accounts.delete(accountId);
    },
    clear: () => accounts.clear(),
  };
}
