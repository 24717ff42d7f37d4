import { OWN_WORK } from './current-account.ts';

/** An account that has called within this time may do so again at any moment. */
const CONTENDED_MS = 10_000;

export type Contention = {
  noteCall(account: string): void;
  /** Whether an account other than the latest one has called within the last ten seconds. */
  isContended(): boolean;
};

/** Whether accounts want something at the same time, by the calls that come. Work of no account does not count. */
export function createContention(): Contention {
  let latest = OWN_WORK;
  let latestMs = Number.NEGATIVE_INFINITY;
  /** When an account other than the latest one called last. */
  let otherMs = Number.NEGATIVE_INFINITY;
  return {
    noteCall: (account) => {
      if (account === OWN_WORK) return;
      if (account !== latest) otherMs = latestMs;
      latest = account;
      latestMs = performance.now();
    },
    isContended: () => performance.now() - otherMs < CONTENDED_MS,
  };
}
