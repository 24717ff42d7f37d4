import { describe, expect, it, vi } from 'vitest';

import { createBreaker, FAILURES_MAX, FAILURES_WINDOW_MS } from './breaker.ts';

const PROBE_AFTER_MS = 2_000;

type Answer = 'good' | 'bad' | 'none';

const PROOFS = { good: 'reachable', bad: 'unreachable', none: 'unknown' } as const;

function aBreaker() {
  const clock = { nowMs: 0 };
  const changes: boolean[] = [];
  const breaker = createBreaker<Answer>({
    proofOf: (answer) => PROOFS[answer],
    now: () => clock.nowMs,
    probeAfterMs: PROBE_AFTER_MS,
    onChange: (isOpen) => void changes.push(isOpen),
  });
  const run = async (answer: Answer) => await breaker.run(() => Promise.resolve(answer));
  const fail = async (times: number) => {
    for (let time = 0; time < times; time += 1) await run('bad');
  };
  return { breaker, clock, changes, run, fail };
}

const OPEN = { kind: 'open' };

describe('the breaker', () => {
  it('opens after so many failures in a row, and begins nothing then', async () => {
    const { breaker, changes, fail } = aBreaker();
    await fail(FAILURES_MAX - 1);
    expect(changes).toEqual([]);
    await fail(1);
    expect(changes).toEqual([true]);
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
    const { changes, fail, run } = aBreaker();
    await fail(FAILURES_MAX - 1);
    await run('good');
    await fail(FAILURES_MAX - 1);
    expect(changes).toEqual([]);
  });

  it('counts a call that proves nothing as neither, and hands its answer on', async () => {
    const { changes, fail, run } = aBreaker();
    await fail(FAILURES_MAX - 1);
    expect(await run('none')).toEqual({ kind: 'ran', value: 'none' });
    expect(changes).toEqual([]);
    await fail(1);
    expect(changes).toEqual([true]);
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
    const { changes, clock, fail } = aBreaker();
    await fail(FAILURES_MAX - 1);
    clock.nowMs = FAILURES_WINDOW_MS;
    await fail(FAILURES_MAX - 1);
    expect(changes).toEqual([]);
    await fail(1);
    expect(changes).toEqual([true]);
  });

  it('lets one call through after a while, at once answers the others, and closes when it succeeds', async () => {
    const { breaker, changes, clock, fail, run } = aBreaker();
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS - 1;
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs = PROBE_AFTER_MS;
    const answer = Promise.withResolvers<Answer>();
    const probe = breaker.run(() => answer.promise);
    expect(await Promise.all([run('good'), run('bad')])).toEqual([OPEN, OPEN]);
    answer.resolve('good');
    expect(await probe).toEqual({ kind: 'ran', value: 'good' });
    expect(changes.at(-1)).toBe(false);
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

  it('passes a bug on and counts it for nothing', async () => {
    const { breaker, changes } = aBreaker();
    for (let time = 0; time < 2 * FAILURES_MAX; time += 1) {
      await expect(breaker.run(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    }
    expect(changes).toEqual([]);
  });
});
