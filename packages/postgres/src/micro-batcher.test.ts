import { currentAccount, OWN_WORK, runForAccount } from '@pixmesh/fair-share/current-account';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createMicroBatcher, writeOrHalve } from './micro-batcher.ts';

describe('a micro-batcher', () => {
  test('writes together what is handed in together, in order, and answers each its own', async () => {
    const batches: number[][] = [];
    const batcher = createMicroBatcher<number, string>({
      batchMax: 3,
      write: async (items) => {
        batches.push([...items]);
        return items.map((item) => `did ${item}`);
      },
    });
    const answers = await Promise.all([1, 2, 3, 4].map((item) => batcher.submit(item)));
    expect(batches).toEqual([[1, 2, 3], [4]]);
    expect(answers).toEqual(['did 1', 'did 2', 'did 3', 'did 4']);
  });

  test('gathers the next batch while one is written', async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const sizes: number[] = [];
    const batcher = createMicroBatcher<number, number>({
      batchMax: 100,
      write: async (items) => {
        sizes.push(items.length);
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await gate.promise;
        return [...items];
      },
    });
    const first = batcher.submit(1);
    await expect.poll(() => gates.length).toBe(1);
    const others = [2, 3, 4].map((item) => batcher.submit(item));
    expect(batcher.waiting()).toBe(3);
    gates[0]?.resolve();
    await first;
    await expect.poll(() => gates.length).toBe(2);
    gates[1]?.resolve();
    expect(await Promise.all(others)).toEqual([2, 3, 4]);
    expect(sizes).toEqual([1, 3]);
    await batcher.idle();
    expect(batcher.waiting()).toBe(0);
  });

  test('has nobody wait behind many items of another account', async () => {
    const batches: string[][] = [];
    const batcher = createMicroBatcher<string, null>({
      batchMax: 3,
      write: async (items) => {
        batches.push([...items]);
        return items.map(() => null);
      },
    });
    const many = ['a1', 'a2', 'a3', 'a4', 'a5'];
    await Promise.all([
      ...many.map((item) => runForAccount('a', () => batcher.submit(item))),
      runForAccount('b', () => batcher.submit('b1')),
      runForAccount('c', () => batcher.submit('c1')),
    ]);
    expect(batches).toEqual([['a1', 'b1', 'c1'], ['a2', 'a3', 'a4'], ['a5']]);
  });

  test('writes in the turns of the installation itself, for items of any account', async () => {
    const accounts: string[] = [];
    const batcher = createMicroBatcher<number, number>({
      batchMax: 1,
      write: async (items) => {
        accounts.push(currentAccount());
        return [...items];
      },
    });
    const submitFor = (account: string) => runForAccount(account, () => batcher.submit(1));
    await Promise.all([submitFor('one'), submitFor('other')]);
    expect(accounts).toEqual([OWN_WORK, OWN_WORK]);
  });

  test('answers a failure to its batch and to all behind it, and takes what comes later', async () => {
    let isAway = true;
    const batcher = createMicroBatcher<number, number>({
      batchMax: 2,
      write: async (items) => {
        if (isAway) throw new Error('away');
        return [...items];
      },
    });
    const settled = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => batcher.submit(item)));
    expect(settled.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
    isAway = false;
    expect(await batcher.submit(6)).toBe(6);
  });

  test('answers what waits behind a batch and must not overtake it, and writes the rest', async () => {
    const batches: string[][] = [];
    const batcher = createMicroBatcher<string, string>({
      batchMax: 2,
      write: async (items) => {
        batches.push([...items]);
        return items.map((item) => (item === 'a1' ? 'come again' : 'written'));
      },
      behind: (outcomes) => (item) =>
        outcomes.includes('come again') && item.startsWith('a') ? 'come again' : null,
    });
    const items = ['a1', 'b1', 'a2', 'b2', 'a3', 'b3'];
    expect(await Promise.all(items.map((item) => batcher.submit(item)))).toEqual([
      'come again',
      'written',
      'come again',
      'written',
      'come again',
      'written',
    ]);
    expect(batches).toEqual([
      ['a1', 'b1'],
      ['b2', 'b3'],
    ]);
  });
});

describe('a batch that is refused for its content', () => {
  test('loses exactly what is to blame, whatever its size and order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (good) => {
        const items = good.map((isGood, index) => ({ isGood, index }));
        const outcomes = await writeOrHalve(items, {
          write: async (some) => {
            if (some.some(({ isGood }) => !isGood)) throw new TypeError('refused');
            return some.map(({ index }) => `wrote ${index}`);
          },
          alone: async ({ index }, refusal) => `refused ${index}: ${(refusal as Error).message}`,
        });
        expect(outcomes).toEqual(
          good.map((isGood, index) => (isGood ? `wrote ${index}` : `refused ${index}: refused`)),
        );
      }),
    );
  });

  test('is not told from one that nobody is to blame for: that passes', async () => {
    const writing = writeOrHalve([1, 2], {
      write: async () => {
        throw new Error('away');
      },
      alone: async () => 'refused alone',
    });
    await expect(writing).rejects.toThrow('away');
  });
});
