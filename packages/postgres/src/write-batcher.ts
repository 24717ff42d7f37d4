import { isRepeatable } from './database-error.ts';
import { createMicroBatcher, writeOrHalve } from './micro-batcher.ts';
import { repeat } from './repeat.ts';

/** Items of one statement. More would let one that is slow hold up too many. */
const BATCH_MAX = 64;
/** Two processes may write the same rows in another order; one of them is ended, and has written nothing. */
const REPETITION = { triesMax: 3, mayRepeat: isRepeatable };

/** Hands one item in, and waits until the statement that carries it is committed. */
export type WriteBatcher<Item, Outcome> = {
  submit(item: Item): Promise<Outcome>;
};

type Written<Outcome> = { kind: 'written'; outcome: Outcome } | { kind: 'refused'; error: unknown };

/**
 * Statements that arrive while one like them is under way share the next one: alone, each is written at once; under
 * load many share one round trip and one commit. `write` is one statement for all. It leaves nothing behind where it
 * fails, and answers each item in order. An item that the database refuses for what it says, or that no statement can be
 * made of, is refused alone.
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
      write: async (some) =>
        (await repeat(() => write(some), REPETITION)).map((outcome) => ({
          kind: 'written',
          outcome,
        })),
      alone: async (_item, error) => ({ kind: 'refused', error }),
    });
  }
}
