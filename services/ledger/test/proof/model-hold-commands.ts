import type { OracleCommand } from '#test/oracle-books.ts';

import type { SeededRandom } from './seeded-random.ts';

/** Few and small, so that holds meet empty accounts about as often as full ones. */
export const AMOUNTS = [1, 50, 500, 5_000, 9_000] as const;
const FEES = [0, 0, 15, 100] as const;
/** How far back an end or another hold of the same resource reaches. */
const MEMORY = 300;
const REFUND_RATE = 0.4;
const EARLY_END_RATE = 0.06;
const SAME_RESOURCE_RATE = 0.15;
/** The end of a hold by somebody who has the account wrong. */
const FOREIGN_RATE = 0.02;

type Hold = { accountId: string; holdId: string; resourceId: string };

/** Commands about holds: takes, and ends of those that were or will be taken. */
export function createHoldCommands(
  random: SeededRandom,
  accounts: readonly string[],
  aRefund: (accountId: string) => { pix: string; amount: number },
) {
  const holds: Hold[] = [];
  return { holdTake, holdEnd };

  function holdTake(accountId: string): OracleCommand {
    const holdId = random.id();
    const earlier = holds.filter((hold) => hold.accountId === accountId);
    const isAgain = earlier.length > 0 && random.chance(SAME_RESOURCE_RATE);
    const resourceId = isAgain ? random.pick(earlier).resourceId : random.id();
    holds.push({ accountId, holdId, resourceId });
    if (holds.length > MEMORY) holds.shift();
    const money = random.chance(REFUND_RATE)
      ? { ...aRefund(accountId), fee: 0 }
      : { pix: null, amount: random.pick(AMOUNTS), fee: random.pick(FEES) };
    return { id: holdId, kind: 'hold.take', accountId, holdId, resourceId, ...money };
  }

  function holdEnd(accountId: string): OracleCommand {
    const hold = holdToEnd(accountId);
    const kind = random.pick(['hold.settle', 'hold.settle', 'hold.release', 'hold.void'] as const);
    const owner = random.chance(FOREIGN_RATE) ? random.pick(accounts) : hold.accountId;
    return { ...hold, accountId: owner, kind, id: endIdOf(hold.holdId, kind) };
  }

  /** Mostly one of the last; now and then one that is taken only later, or never. */
  function holdToEnd(accountId: string): Hold {
    if (holds.length > 0 && !random.chance(EARLY_END_RATE)) return random.pick(holds.slice(-60));
    const hold = { accountId, holdId: random.id(), resourceId: random.id() };
    if (random.chance(0.5)) holds.push(hold);
    return hold;
  }
}

/** An id of its own for each end, the same each time: the hold's id with another first digit of its version. */
export function endIdOf(
  holdId: string,
  kind: 'hold.settle' | 'hold.release' | 'hold.void',
): string {
  const digit = { 'hold.settle': '1', 'hold.release': '2', 'hold.void': '3' }[kind];
  return `${holdId.slice(0, 14)}${digit}${holdId.slice(15)}`;
}
