import { type Circuit, type CircuitDeps, createCircuit, type Outcome } from './circuit.ts';

/** Failures of fewer accounts may be theirs alone, and hold back nobody else. */
export const ACCOUNTS_MIN = 3;
/** Accounts with failures in a row; beyond it, those of the account that failed longest ago are forgotten. */
export const ACCOUNTS_MAX = 1_000;

export type Breaker<T> = {
  /** Runs the work of an account, or nothing: `open` says that it was not begun. */
  run(account: string, work: () => Promise<T>): Promise<Outcome<T>>;
  /** Whether the provider does not answer: to anybody, or to the accounts that call it. */
  isAway(): boolean;
  /** Accounts whose calls alone are held back. */
  accountsAway(): number;
};

/**
 * Keeps calls of one operation from a provider that does not answer: those of an account where it does not answer that
 * one, and those of all where it does not answer several (ADR 0048).
 */
export function createBreaker<T>(deps: CircuitDeps<T>): Breaker<T> {
  const { proofOf, now } = deps;
  const ofAll = createCircuit(deps, ACCOUNTS_MIN);
  /** The account that failed longest ago stands first. */
  const ofAccounts = new Map<string, Circuit<T>>();
  /** When the last call that was answered had begun. */
  let answeredMs = Number.NEGATIVE_INFINITY;
  return {
    run: async (account, work) => {
      const begunMs = now();
      const circuit = ofAll.isOpen() ? ofAll : (ofAccounts.get(account) ?? ofAll);
      const outcome = await circuit.run(account, work);
      if (outcome.kind === 'ran') count({ account, begunMs }, outcome.value);
      return outcome;
    },
    isAway: () => ofAll.isAway() || away().some((circuit) => circuit.hasOpenedSince(answeredMs)),
    accountsAway: () => (ofAll.isOpen() ? 0 : away().length),
  };

  function away(): Circuit<T>[] {
    return [...ofAccounts.values()].filter((circuit) => circuit.isAway());
  }

  function count(call: { account: string; begunMs: number }, value: T): void {
    const { account, begunMs } = call;
    ofAll.count(account, value);
    if (ofAll.isOpen()) return;
    const proof = proofOf(value);
    if (proof === 'unreachable') circuitOf(account).count(account, value);
    if (proof !== 'reachable') return;
    answeredMs = Math.max(answeredMs, begunMs);
    // What was begun before the opening does not end it.
    if (ofAccounts.get(account)?.isOpen() !== true) ofAccounts.delete(account);
  }

  function circuitOf(account: string): Circuit<T> {
    const circuit = ofAccounts.get(account) ?? createCircuit(deps, 1);
    ofAccounts.delete(account);
    ofAccounts.set(account, circuit);
    const [oldest] = ofAccounts.keys();
    if (oldest !== undefined && ofAccounts.size > ACCOUNTS_MAX) ofAccounts.delete(oldest);
    return circuit;
  }
}
