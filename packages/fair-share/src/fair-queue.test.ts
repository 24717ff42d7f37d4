import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { createFairQueue, type FairQueueOptions, type WaitBounds } from './fair-queue.ts';
import { anyFree, fourTimesFree } from './share-of-places.ts';

const PATIENT_MS = 60_000;
const FEW = 2_000;
const MANY = 20_000;

function aQueue(changes: Partial<FairQueueOptions> = {}) {
  const bounds = { waitingMax: 1_000, waitMsMax: PATIENT_MS };
  const queue = createFairQueue({ name: 'test', places: 1, share: anyFree, ...bounds, ...changes });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  /** Work that is under way until the next `end`. */
  const run = (account: string, bounds?: WaitBounds) =>
    queue.run(
      account,
      async () => {
        begun.push(account);
        await new Promise<void>((resolve) => void ends.push(resolve));
        return account;
      },
      bounds,
    );
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await nextTurn();
  };
  return { queue, run, end, begun };
}

describe('places', () => {
  it('are all there for an account alone, and nobody waits while one is free', async () => {
    const { run, end, begun } = aQueue({ places: 3 });
    const work = ['a', 'a', 'a'].map((account) => run(account));
    expect(begun).toEqual(['a', 'a', 'a']);
    for (const _ of work) await end();
    expect(await Promise.all(work)).toEqual(['a', 'a', 'a']);
  });

  it('stay free for another account, where one may hold four times as many as are free', async () => {
    const { run, end, begun } = aQueue({ places: 10, share: fourTimesFree });
    const work = 'aaaaaaaaaa'.split('').map((account) => run(account));
    expect(begun.join('')).toBe('aaaaaaaa');
    work.push(run('b'), run('c'));
    expect(begun.join('')).toBe('aaaaaaaabc');
    await end();
    // One is free, and a has seven.
    expect(begun.join('')).toBe('aaaaaaaabc');
    work.push(run('d'));
    expect(begun.join('')).toBe('aaaaaaaabcd');
    for (const _ of work) await end();
    await Promise.all(work);
    expect(begun.join('')).toBe('aaaaaaaabcdaa');
  });

  it('are handed on in turns by account, and within one in the order of arrival', async () => {
    const { queue } = aQueue();
    const done: string[] = [];
    const work = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) =>
      queue.run(name.charAt(0), async () => {
        await nextTurn();
        done.push(name);
      }),
    );
    await Promise.all(work);
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('become free when work fails, and its error is its caller’s', async () => {
    const { queue } = aQueue();
    const failing = queue.run('a', () => Promise.reject(new Error('broken')));
    const next = queue.run('a', () => Promise.resolve('served'));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('served');
  });
});

describe('work that waits', () => {
  it('goes on in the context of its own caller', async () => {
    const { queue } = aQueue();
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const work = ['a', 'b', 'a'].map((name) =>
      context.run(name, () =>
        queue.run(name, async () => {
          await nextTurn();
          seen.push(context.getStore());
        }),
      ),
    );
    await Promise.all(work);
    expect(seen).toEqual(['a', 'b', 'a']);
  });

  it('is refused beyond the number that one account may have waiting; others wait', async () => {
    const { run, end, begun } = aQueue({ waitingMax: 2 });
    const work = [run('a'), run('a'), run('a')];
    await expect(run('a')).rejects.toMatchObject({ name: 'NoTurnError', reason: 'full' });
    work.push(run('b'));
    for (const _ of work) await end();
    await Promise.all(work);
    expect(begun).toEqual(['a', 'a', 'b', 'a']);
  });

  it('is told how long the oldest of its account waits', async () => {
    const { run, end } = aQueue({ waitingMax: 1 });
    const work = [run('a'), run('a')];
    const since = performance.now();
    while (performance.now() - since < 5) await nextTurn();
    await expect(run('a')).rejects.toSatisfy((e: { retryAfterMs: number }) => e.retryAfterMs >= 4);
    for (const _ of work) await end();
    await Promise.all(work);
  });

  it('never begins after its time, and its place on the list is free', async () => {
    const { run, end, begun } = aQueue({ waitMsMax: 1, waitingMax: 1 });
    const first = run('a');
    for (const _ of [1, 2]) await expect(run('a')).rejects.toMatchObject({ reason: 'late' });
    await end();
    await first;
    expect(begun).toEqual(['a']);
  });

  it('never begins after the time of its caller, however long that slept', async () => {
    const { run, end, begun } = aQueue();
    const first = run('a');
    const late = run('a', { beginBeforeMs: performance.now() + 20 });
    const refused = late.catch((error: unknown) => error);
    // The process stands still: its timers come after the end of the first.
    const since = performance.now();
    while (performance.now() - since < 30);
    await end();
    expect(await refused).toMatchObject({ reason: 'late' });
    await first;
    expect(begun).toEqual(['a']);
    expect(await Promise.race([run('b'), end().then(end)])).toBe('b');
  });

  it('leaves the list as soon as its caller leaves', async () => {
    const { run, end, begun } = aQueue();
    const caller = new AbortController();
    const work = [run('a'), run('b')];
    const left = run('a', { signal: caller.signal });
    caller.abort();
    await expect(left).rejects.toMatchObject({ reason: 'aborted' });
    await expect(run('a', { signal: caller.signal })).rejects.toMatchObject({ reason: 'aborted' });
    for (const _ of work) await end();
    await Promise.all(work);
    expect(begun).toEqual(['a', 'b']);
  });

  it('leaves no timer and no listener behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { run, end } = aQueue();
    const caller = new AbortController();
    const removed = vi.spyOn(caller.signal, 'removeEventListener');
    const work = [run('a'), run('a', { signal: caller.signal }), run('b')];
    expect(vi.getTimerCount()).toBe(2);
    for (const _ of work) await end();
    await Promise.all(work);
    expect(vi.getTimerCount()).toBe(0);
    expect(removed).toHaveBeenCalledOnce();
  });
});

it('serves what waits at a cost that does not grow with their number', async () => {
  const cpuOf = async (waiting: number): Promise<number> => {
    const queue = createFairQueue({
      name: 'test',
      places: 1,
      share: anyFree,
      waitingMax: waiting,
      waitMsMax: PATIENT_MS,
    });
    const startedAt = process.threadCpuUsage();
    const work = Array.from({ length: waiting }, (_, index) =>
      queue.run(`account ${index % 1_000}`, () => Promise.resolve()),
    );
    await Promise.all(work);
    const { user, system } = process.threadCpuUsage(startedAt);
    return (user + system) / waiting;
  };
  await cpuOf(FEW);
  const few = await cpuOf(FEW);
  expect(await cpuOf(MANY)).toBeLessThan(few * 10);
}, 60_000);
