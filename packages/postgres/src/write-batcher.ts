import { isLockTimeout, isRepeatable } from './database-error.ts';
import { blamesItem, createMicroBatcher, writeOrHalve } from './micro-batcher.ts';
import { repeat } from './repeat.ts';

/** Items of one statement. More would let one that is slow hold up too many. */
const BATCH_MAX = 64;
/** Two processes may write the same rows in another order; one of them is ended, and has written nothing. */
const REPETITION = { triesMax: 3, mayRepeat: isRepeatable };
/** Rows that are found locked one after the other: more of them are one lock of the whole table. */
const LOCKED_IN_A_ROW_MAX = 3;

/** Hands one item in, and waits until the statement that carries it is committed. */
export type WriteBatcher<Item, Outcome> = {
  submit(item: Item): Promise<Outcome>;
};

type Written<Outcome> = { kind: 'written'; outcome: Outcome } | { kind: 'refused'; error: unknown };

/**
 * Statements that arrive while one like them is under way share the next one: alone, each is written at once; under
 * load many share one round trip and one commit. `write` is one statement for all. It leaves nothing behind where it
 * fails, and answers each item in order. An item that the database refuses for what it says, that no statement can be
 * made of, or whose row stays locked, is refused alone; after three locked ones in a row the rest of the statement is
 * refused with them.
 */
export function createWriteBatcher<Item, Outcome>(
  write: (items: readonly Item[]) => Promise<Outcome[]>,
): WriteBatcher<Item, Outcome> {
  const batcher = createMicroBatcher<Item, Written<Outcome>>({
    batchMax: BATCH_MAX,
    write: writeAll,
  });
  return {
    submit: async (item) => {
      const written = await batcher.submit(item);
      if (written.kind === 'refused') throw written.error;
      return written.outcome;
    },
  };

  async function writeAll(items: readonly Item[]): Promise<Written<Outcome>[]> {
    return await writeOrHalve<Item, Written<Outcome>>(items, {
      write: async (some) => {
        try {
          return await writeTogether(some);
        } catch (error) {
          if (!isLockTimeout(error)) throw error;
          return some.length === 1 ? [{ kind: 'refused', error }] : await writeEach(some);
        }
      },
      alone: async (_item, error) => ({ kind: 'refused', error }),
    });
  }

  /**
   * One after the other: none but those whose rows are locked waits for a row again. Where the database answers none
   * any more, or the table itself seems to be locked, the rest is not tried.
   */
  async function writeEach(items: readonly Item[]): Promise<Written<Outcome>[]> {
    const outcomes: Written<Outcome>[] = [];
    let lockedInARow = 0;
    for (const item of items) {
      try {
        outcomes.push(...(await writeTogether([item])));
        lockedInARow = 0;
      } catch (error) {
        lockedInARow = isLockTimeout(error) ? lockedInARow + 1 : 0;
        const isTableLocked = lockedInARow === LOCKED_IN_A_ROW_MAX;
        const isOfItem = isLockTimeout(error) || blamesItem(error);
        if (isTableLocked || !isOfItem) {
          return [...outcomes, ...refusedAll(items.slice(outcomes.length), error)];
        }
        outcomes.push({ kind: 'refused', error });
      }
    }
    return outcomes;
  }

  async function writeTogether(items: readonly Item[]): Promise<Written<Outcome>[]> {
    const outcomes = await repeat(() => write(items), REPETITION);
    return outcomes.map((outcome) => ({ kind: 'written', outcome }));
  }
}

function refusedAll(
  items: readonly unknown[],
  error: unknown,
): { kind: 'refused'; error: unknown }[] {
  return items.map(() => ({ kind: 'refused', error }));
}
