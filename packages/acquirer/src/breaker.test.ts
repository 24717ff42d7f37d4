import { describe, expect, it, vi } from 'vitest';

import { AWAY_MS, createBreaker, FAILURES_MAX, FAILURES_WINDOW_MS } from './breaker.ts';

const PROBE_AFTER_MS = 2_000;

type Answer = 'good' | 'bad' | 'none';

const PROOFS = { good: 'reachable', bad: 'unreachable', none: 'unknown' } as const;

function aBreaker() {
  const clock = { nowMs: 0 };
  const breaker = createBreaker<Answer>({
    proofOf: (answer) => PROOFS[answer],
    now: () => clock.nowMs,
    probeAfterMs: PROBE_AFTER_MS,
  });
  const run = async (answer: Answer) => await breaker.run(() => Promise.resolve(answer));
  const fail = async (times: number) => {
    for (let time = 0; time < times; time += 1) await run('bad');
  };
  return { breaker, clock, run, fail };
}

const OPEN = { kind: 'open' };

describe('the breaker', () => {
  it('opens after so many failures in a row, and begins nothing then', async () => {
    const { breaker, fail } = aBreaker();
    await fail(FAILURES_MAX - 1);
    expect(breaker.isAway()).toBe(false);
    await fail(1);
    expect(breaker.isAway()).toBe(true);
    const work = vi.fn<() => Promise<Answer>>();
    expect(await breaker.run(work)).toEqual(OPEN);
    expect(work).not.toHaveBeenCalled();
  });

  it('hands an answer on, whatever it is', async () => {
    const { run } = aBreaker();
    expect(await run('bad')).toEqual({ kind: 'ran', value: 'bad' });
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('stays closed where one good answer stands between the failures', async () => {
    const { breaker, fail, run } = aBreaker();
    await fail(FAILURES_MAX - 1);
    await run('good');
    await fail(FAILURES_MAX - 1);
    expect(breaker.isAway()).toBe(false);
  });

  it('counts a call that proves nothing as neither, and hands its answer on', async () => {
    const { breaker, fail, run } = aBreaker();
    await fail(FAILURES_MAX - 1);
    expect(await run('none')).toEqual({ kind: 'ran', value: 'none' });
    expect(breaker.isAway()).toBe(false);
    await fail(1);
    expect(breaker.isAway()).toBe(true);
  });

  it('stays open where the one call that it let through proves nothing', async () => {
    const { clock, fail, run } = aBreaker();
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    expect(await run('none')).toEqual({ kind: 'ran', value: 'none' });
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('forgets failures that are older than its window', async () => {
    const { breaker, clock, fail } = aBreaker();
    await fail(FAILURES_MAX - 1);
    clock.nowMs = FAILURES_WINDOW_MS;
    await fail(FAILURES_MAX - 1);
    expect(breaker.isAway()).toBe(false);
    await fail(1);
    expect(breaker.isAway()).toBe(true);
  });

  it('lets one call through after a while, at once answers the others, and closes when it succeeds', async () => {
    const { breaker, clock, fail, run } = aBreaker();
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS - 1;
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs = PROBE_AFTER_MS;
    const answer = Promise.withResolvers<Answer>();
    const probe = breaker.run(() => answer.promise);
    expect(await Promise.all([run('good'), run('bad')])).toEqual([OPEN, OPEN]);
    answer.resolve('good');
    expect(await probe).toEqual({ kind: 'ran', value: 'good' });
    expect(breaker.isAway()).toBe(false);
    await fail(FAILURES_MAX - 1);
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('waits as long again when the one call fails', async () => {
    const { clock, fail, run } = aBreaker();
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    expect(await run('bad')).toEqual({ kind: 'ran', value: 'bad' });
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('goes by its own clock when the time of day is set back', async () => {
    const { clock, fail, run } = aBreaker();
    await fail(FAILURES_MAX);
    vi.useFakeTimers({ now: Date.now() - 3_600_000, toFake: ['Date'] });
    try {
      clock.nowMs = PROBE_AFTER_MS;
      expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('says no longer that the provider is away where no call has tried for a minute', async () => {
    const { breaker, clock, fail, run } = aBreaker();
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS - 1;
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs += AWAY_MS - 1;
    expect(breaker.isAway()).toBe(true);
    clock.nowMs += 1;
    expect(breaker.isAway()).toBe(false);
    expect(await run('bad')).toEqual({ kind: 'ran', value: 'bad' });
    expect(breaker.isAway()).toBe(true);
    expect(await run('good')).toEqual(OPEN);
  });

  it('lets no call that was begun before it opened end the one that tries', async () => {
    const { breaker, clock, fail, run } = aBreaker();
    const late = Promise.withResolvers<Answer>();
    const slow = breaker.run(() => late.promise);
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    const answer = Promise.withResolvers<Answer>();
    const probe = breaker.run(() => answer.promise);
    late.resolve('bad');
    await slow;
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await run('good')).toEqual(OPEN);
    answer.resolve('good');
    await probe;
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('lets another call try where a bug ended the one that tried', async () => {
    const { breaker, clock, fail, run } = aBreaker();
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    await expect(breaker.run(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    expect(await run('bad')).toEqual({ kind: 'ran', value: 'bad' });
    expect(await run('good')).toEqual(OPEN);
  });

  it('passes a bug on and counts it for nothing', async () => {
    const { breaker } = aBreaker();
    for (let time = 0; time < 2 * FAILURES_MAX; time += 1) {
      await expect(breaker.run(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    }
    expect(breaker.isAway()).toBe(false);
  });
});
