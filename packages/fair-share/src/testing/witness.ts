import assert from 'node:assert';

type Waiter = { items: number; turnsOfOthers: number; lead: Map<string, number> };

/**
 * Sees who waits and who begins, and nothing of how that is decided. Throws where a place is free beside one who waits,
 * where an account is more than one turn ahead of another that waits, and where one that waits is passed over.
 */
export function createWitness(places: number) {
  let running = 0;
  const waiters = new Map<string, Waiter>();
  const seen = new Set<string>();
  return {
    waits: (account: string): void => {
      assert.equal(running, places, 'nobody waits while a place is free');
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
      running += 1;
      assert(running <= places, 'there are no more places');
      seen.add(account);
      for (const [name, waiter] of waiters) countTurn(waiter, { isOwn: name === account, account });
    },
    ends: (): void => {
      running -= 1;
    },
    rests: (): void => assert.equal(waiters.size, 0, 'no place is free while somebody waits'),
    end: (): void => {
      assert.equal(running + waiters.size, 0, 'all work has ended, and nothing waits for ever');
    },
  };

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
