import type { OracleCommand } from '#testing/oracle.ts';

import { AMOUNTS } from './model-hold-commands.ts';
import type { SeededRandom } from './seeded-random.ts';

const CREDITS = [100, 500, 3_000] as const;
const FAR_AHEAD_MS = 86_400_000;
const SHORTLY_MS_MAX = 400;

/** Commands about money that comes, goes or is disputed. */
export function createMoneyCommands(random: SeededRandom) {
  const blocks: { accountId: string; subject: string; amount: number }[] = [];
  return { credit, suspend, payoutReturn, payoutSuspend, tariff, block, unblock, disputeReturn };

  function credit(accountId: string): OracleCommand {
    const draw = random.fraction();
    const releaseAtMs = draw < 0.6 ? null : Date.now() + delayOf(draw);
    return { ...told(accountId), kind: 'credit', amount: random.pick(CREDITS), releaseAtMs };
  }

  function delayOf(draw: number): number {
    if (draw < 0.7) return -FAR_AHEAD_MS;
    return draw < 0.9 ? random.below(SHORTLY_MS_MAX) : FAR_AHEAD_MS;
  }

  function suspend(accountId: string): OracleCommand {
    return { ...told(accountId), kind: 'suspend', amount: random.pick(AMOUNTS) };
  }

  function payoutReturn(accountId: string): OracleCommand {
    return { ...told(accountId), kind: 'payout_return', amount: random.pick(AMOUNTS) };
  }

  function payoutSuspend(accountId: string): OracleCommand {
    const direction = random.pick(['in', 'out'] as const);
    return { ...told(accountId), kind: 'payout_suspend', direction, amount: random.pick(AMOUNTS) };
  }

  function tariff(accountId: string): OracleCommand {
    return { ...told(accountId), kind: 'tariff', amount: random.pick(AMOUNTS) };
  }

  function block(accountId: string): OracleCommand {
    const amount = random.pick(AMOUNTS);
    const command = { ...told(accountId), kind: 'block', amount } as const;
    blocks.push({ accountId, subject: command.subject, amount });
    return command;
  }

  function unblock(accountId: string): OracleCommand {
    const block = blockToEnd(accountId);
    return { ...block, id: random.id(), kind: 'unblock' };
  }

  function disputeReturn(accountId: string): OracleCommand {
    const from = random.pick(['blocked', 'blocked', 'available'] as const);
    return { ...blockToEnd(accountId), id: random.id(), kind: 'dispute_return', from };
  }

  /** A block is ended once; what has none to end takes from what is not there. */
  function blockToEnd(accountId: string) {
    const block = random.chance(0.9) ? blocks.shift() : undefined;
    return block ?? { accountId, subject: random.id(), amount: random.pick(AMOUNTS) };
  }

  function told(accountId: string) {
    return { id: random.id(), subject: random.id(), accountId };
  }
}
