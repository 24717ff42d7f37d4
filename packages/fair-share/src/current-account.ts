import { AsyncLocalStorage } from 'node:async_hooks';

/** Work of no account: jobs and what belongs to the installation itself. They share turns like one account. */
export const OWN_WORK = 'own';

const accounts = new AsyncLocalStorage<string>();

/** Runs `work` on behalf of an account: what it takes of something scarce is taken in that account's turns. */
export function runForAccount<T>(accountId: string, work: () => T): T {
  return accounts.run(accountId, work);
}

/** The account on whose behalf this code runs. */
export function currentAccount(): string {
  return accounts.getStore() ?? OWN_WORK;
}
