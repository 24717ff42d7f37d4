import { deriveCommandId } from '@pixmesh/kernel/ids';

import type { OracleCommand } from '#test/oracle.ts';

import { AMOUNTS } from './model-hold-commands.ts';
import type { SeededRandom } from './seeded-random.ts';

const CREDITS = [100, 500, 3_000] as const;
const FAR_AHEAD_MS = 86_400_000;
const SHORTLY_MS_MAX = 400;

type Item = { accountId: string; item: string; subject: string; amount: number };

/** Commands about money that comes or goes. */
export function createMoneyCommands(
  random: SeededRandom,
  credited: (pix: { accountId: string; subject: string; amount: number }) => void,
) {
  const items: Item[] = [];
  return { credit, suspend, payoutReturn, payoutSuspend, tariff, resolve, give };

  function credit(accountId: string): OracleCommand {
    const draw = random.fraction();
    const releaseAtMs = draw < 0.6 ? null : Date.now() + delayOf(draw);
    const subject = random.id();
    const pix = { accountId, subject, amount: random.pick(CREDITS) };
    credited(pix);
    // Once per Pix: the ledger finds the credit by this id.
    return { ...pix, id: deriveCommandId('received_pix', subject), kind: 'credit', releaseAtMs };
  }

  function delayOf(draw: number): number {
    if (draw < 0.7) return -FAR_AHEAD_MS;
    return draw < 0.9 ? random.below(SHORTLY_MS_MAX) : FAR_AHEAD_MS;
  }

  function suspend(accountId: string): OracleCommand {
    const command = { ...told(accountId), kind: 'suspend', amount: random.pick(AMOUNTS) } as const;
    const { id: item, subject, amount } = command;
    items.push({ accountId, item, subject, amount });
    return command;
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

  /** Of an item that stands, mostly for the first time, and now and then of a part. */
  function resolve(accountId: string): OracleCommand {
    const item = anItem(accountId);
    const action = random.pick(['accept', 'hand_over', 'return'] as const);
    const amount = random.chance(0.3) ? Math.max(1, random.below(item.amount)) : item.amount;
    return { ...item, amount, id: random.id(), kind: 'resolve', action };
  }

  function give(accountId: string): OracleCommand {
    return { ...anItem(accountId), accountId, id: random.id(), kind: 'give' };
  }

  function anItem(accountId: string) {
    const known =
      items.length > 0 && random.chance(0.9) ? random.pick(items.slice(-10)) : undefined;
    const amount = random.pick(AMOUNTS);
    return known ?? { accountId, item: random.id(), subject: random.id(), amount };
  }

  function told(accountId: string) {
    return { id: random.id(), subject: random.id(), accountId };
  }
}
