import { OWN_WORK } from './current-account.ts';

/** For how long after it another account's call is taken for one beside it. Above a pause between two calls of most. */
const CONTENDED_MS = 10_000;

export type Contention = {
  /** Notes a call of the account. Whether another account had one a moment ago. */
  isContended(account: string): boolean;
};

/**
 * Whether accounts want something at the same time, by the calls that come: an account alone needs no bound of its own.
 * Work of no account is nobody's beside whom one would have to hold back.
 */
export function createContention(): Contention {
  let latest: string | null = null;
  let changedMs = Number.NEGATIVE_INFINITY;
  return {
    isContended: (account) => {
      const nowMs = performance.now();
      if (account !== OWN_WORK) {
        if (latest !== null && latest !== account) changedMs = nowMs;
        latest = account;
      }
      return nowMs - changedMs < CONTENDED_MS;
    },
  };
}
