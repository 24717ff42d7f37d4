import { deriveCommandId } from '@pixmesh/kernel/ids';

import type { OracleCommand } from '#test/oracle-books.ts';

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
  return {
    receivedPixCredit,
    receivedPixSuspend,
    payoutReturnCredit,
    payoutSuspend,
    acquirerTariffBook,
    suspenseResolve,
    suspenseCredit,
  };

  function receivedPixCredit(accountId: string): OracleCommand {
    const draw = random.fraction();
    const releaseAtMs = draw < 0.6 ? null : Date.now() + delayOf(draw);
    const subject = random.id();
    const pix = { accountId, subject, amount: random.pick(CREDITS) };
    credited(pix);
    // Once per Pix: the ledger finds the credit by this id.
    return {
      ...pix,
      id: deriveCommandId('received_pix', subject),
      kind: 'received_pix.credit',
      releaseAtMs,
    };
  }

  function delayOf(draw: number): number {
    if (draw < 0.7) return -FAR_AHEAD_MS;
    return draw < 0.9 ? random.below(SHORTLY_MS_MAX) : FAR_AHEAD_MS;
  }

  function receivedPixSuspend(accountId: string): OracleCommand {
    const command = { ...movement(accountId), kind: 'received_pix.suspend' } as const;
    const { id: item, subject, amount } = command;
    items.push({ accountId, item, subject, amount });
    return command;
  }

  function payoutReturnCredit(accountId: string): OracleCommand {
    return { ...movement(accountId), kind: 'payout_return.credit' };
  }

  function acquirerTariffBook(accountId: string): OracleCommand {
    return { ...movement(accountId), kind: 'acquirer_tariff.book' };
  }

  function payoutSuspend(accountId: string): OracleCommand {
    const direction = random.pick(['in', 'out'] as const);
    return { ...movement(accountId), kind: 'payout.suspend', direction };
  }

  /** Of an item that stands, mostly for the first time, and now and then of a part. */
  function suspenseResolve(accountId: string): OracleCommand {
    const item = anItem(accountId);
    const action = random.pick(['accept', 'hand_over', 'return'] as const);
    const amount = random.chance(0.3) ? Math.max(1, random.below(item.amount)) : item.amount;
    return { ...item, amount, id: random.id(), kind: 'suspense.resolve', action };
  }

  function suspenseCredit(accountId: string): OracleCommand {
    return { ...anItem(accountId), accountId, id: random.id(), kind: 'suspense.credit' };
  }

  function anItem(accountId: string) {
    const known =
      items.length > 0 && random.chance(0.9) ? random.pick(items.slice(-10)) : undefined;
    const amount = random.pick(AMOUNTS);
    return known ?? { accountId, item: random.id(), subject: random.id(), amount };
  }

  function movement(accountId: string) {
    return { id: random.id(), subject: random.id(), accountId, amount: random.pick(AMOUNTS) };
  }
}
