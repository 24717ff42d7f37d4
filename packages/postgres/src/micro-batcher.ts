import { setImmediate as nextTurn } from 'node:timers/promises';

import { currentAccount, OWN_WORK, runForAccount } from '@pixmesh/fair-share/current-account';
import { createLaps } from '@pixmesh/fair-share/laps';
import { isBug } from '@pixmesh/kernel/app-error';
import { z } from 'zod';

import { blamesContent } from './database-error.ts';

export type MicroBatcher<Item, Outcome> = {
  /** Hands an item in for the current account, and waits for what became of it. */
  submit(item: Item): Promise<Outcome>;
  /** Items that wait for their batch. */
  waiting(): number;
  /** Resolves when nothing waits and nothing is being written. */
  idle(): Promise<void>;
};

type Waiting<Item, Outcome> = { item: Item; account: string } & PromiseWithResolvers<Outcome>;

/**
 * Writes what waits as one batch after the other, without waiting for more: under light load an item is alone in its
 * batch, under heavy load many share one commit. A batch has one item of each account, then a second one of each, an
 * account's own in the order in which they were handed in: nobody waits behind hundreds of another. `write` answers each
 * item its outcome, in order; what it throws is the answer to its whole batch and to everything that waits behind it,
 * so that nothing overtakes what has to come again. How much may wait is for the caller to bound. A batch takes its
 * connection in the turns of the installation itself, since its items belong to many accounts.
 */
export function createMicroBatcher<Item, Outcome>(options: {
  batchMax: number;
  write(items: readonly Item[]): Promise<readonly Outcome[]>;
  /**
   * What an item is answered that waits behind a batch with these outcomes, so that it does not overtake one that has
   * to come again; null for those that may be written, or where all may.
   */
  behind?(outcomes: readonly Outcome[]): ((item: Item) => Outcome | null) | null;
}): MicroBatcher<Item, Outcome> {
  const waiting = createLaps<Waiting<Item, Outcome>>();
  let running: Promise<void> | null = null;
  return {
    submit: async (item) => {
      const account = currentAccount();
      const entry = { item, account, ...Promise.withResolvers<Outcome>() };
      waiting.add(account, entry);
      running ??= runForAccount(OWN_WORK, work);
      return await entry.promise;
    },
    waiting: () => waiting.size(),
    idle: async () => {
      await running;
    },
  };

  async function work(): Promise<void> {
    // What is handed in within this turn of the event loop, such as a fetch from the broker, goes together.
    await nextTurn();
    while (waiting.size() > 0) await writeBatch(waiting.take(options.batchMax));
    running = null;
  }

  async function writeBatch(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await options.write(batch.map(({ item }) => item));
      for (const [index, entry] of batch.entries()) entry.resolve(outcomes[index]!);
      const answerOf = options.behind?.(outcomes);
      if (answerOf) answerBehind(answerOf);
    } catch (error) {
      for (const entry of [...batch, ...waiting.take(waiting.size())]) entry.reject(error);
    }
  }

  function answerBehind(answerOf: (item: Item) => Outcome | null): void {
    for (const entry of waiting.take(waiting.size())) {
      const outcome = answerOf(entry.item);
      if (outcome === null) waiting.add(entry.account, entry);
      else entry.resolve(outcome);
    }
  }
}

/**
 * Writes a batch whose content may be refused: it is halved until the item that is refused is alone, and only that is
 * given to `alone`. Outcomes come in the order of the items, which keep theirs. Errors that blame no item pass.
 */
export async function writeOrHalve<Item, Outcome>(
  items: readonly Item[],
  how: {
    write(items: readonly Item[]): Promise<Outcome[]>;
    alone(item: Item, refusal: unknown): Promise<Outcome>;
  },
): Promise<Outcome[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    return await how.write(items);
  } catch (error) {
    if (!blamesItem(error)) throw error;
    if (items.length === 1) return [await how.alone(first, error)];
    const middle = Math.ceil(items.length / 2);
    const front = await writeOrHalve(items.slice(0, middle), how);
    return [...front, ...(await writeOrHalve(items.slice(middle), how))];
  }
}

/**
 * A statement that the database refused for its values, a message that its own schema refuses, or an item that our own
 * program fails on. Other errors of the database blame no item.
 */
export function blamesItem(error: unknown): boolean {
  return error instanceof z.ZodError || isBug(error) || blamesContent(error);
}
