import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { within } from './within.ts';

describe('work within a limit', () => {
  it('that ends in time gives its outcome, and leaves no timer behind', async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    expect(await within(60_000, Promise.resolve('done'), 'late')).toBe('done');
    const after = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    expect(after).toBe(before);
  });

  it('that fails in time throws what it failed with', async () => {
    const work = Promise.reject(new Error('refused'));
    await expect(within(60_000, work, null)).rejects.toThrow('refused');
  });

  it('that takes longer gives what stands for late', async () => {
    const { promise } = Promise.withResolvers<string>();
    expect(await within(1, promise, 'late')).toBe('late');
  });

  it('that fails after the limit ends no process', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const { promise, reject } = Promise.withResolvers<string>();
    expect(await within(1, promise, 'late')).toBe('late');
    reject(new Error('too late'));
    await setImmediate();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
