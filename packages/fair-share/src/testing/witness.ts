import assert from 'node:assert';

type Waiter = { items: number; turnsOfOthers: number; lead: Map<string, number> };

/** Whether an account that holds so many places may have one more where so many are free. */
export type MayHave = (held: number, free: number) => boolean;

/**
 * Sees who waits and who begins, and nothing of how that is decided. Throws where an account begins that may not have a
 * place, or waits although it may; where one is more than one turn ahead of another that waits and may have the place;
 * and where such a one is passed over.
 */
export function createWitness(places: number, mayHave: MayHave) {
  let running = 0;
  const held = new Map<string, number>();
  const waiters = new Map<string, Waiter>();
  const seen = new Set<string>();
  return {
    waits: (account: string): void => {
      assert(!mayBegin(account), 'nobody waits who may have a place');
      seen.add(account);
      const waiter = waiters.get(account);
      if (waiter === undefined) {
        waiters.set(account, { items: 1, turnsOfOthers: 0, lead: new Map() });
      } else waiter.items += 1;
    },
    leaves: (account: string): void => {
      const waiter = waiters.get(account);
      assert(waiter, 'only who waits can leave');
      waiter.items -= 1;
      if (waiter.items === 0) waiters.delete(account);
    },
    begins: (account: string): void => {
      assert(mayBegin(account), 'who begins may have a place');
      seen.add(account);
      for (const [name, waiter] of waiters) {
        // Who holds too many misses no turn.
        if (mayBegin(name)) countTurn(waiter, { isOwn: name === account, account });
      }
      running += 1;
      assert(running <= places, 'there are no more places');
      held.set(account, heldBy(account) + 1);
    },
    ends: (account: string): void => {
      running -= 1;
      held.set(account, heldBy(account) - 1);
    },
    rests: (): void => {
      for (const name of waiters.keys()) assert(!mayBegin(name), 'who may have a place has it');
    },
    end: (): void => {
      assert.equal(running + waiters.size, 0, 'all work has ended, and nothing waits for ever');
    },
  };

  function heldBy(account: string): number {
    return held.get(account) ?? 0;
  }

  function mayBegin(account: string): boolean {
    return mayHave(heldBy(account), places - running);
  }

  /** The lead is that of the worst stretch of the wait: turns that an account has missed before give it no credit. */
  function countTurn(waiter: Waiter, turn: { isOwn: boolean; account: string }): void {
    if (turn.isOwn) {
      waiter.turnsOfOthers = 0;
      for (const [other, lead] of waiter.lead) waiter.lead.set(other, Math.max(0, lead - 1));
      return;
    }
    const lead = (waiter.lead.get(turn.account) ?? 0) + 1;
    waiter.lead.set(turn.account, lead);
    waiter.turnsOfOthers += 1;
    assert(lead <= 1, 'no account is more than one turn ahead of one that waits');
    assert(waiter.turnsOfOthers < seen.size, 'an account that waits has a turn in each round');
  }
}
