import { describe, expect, it, vi } from 'vitest';

import { ACCOUNTS_MAX, ACCOUNTS_MIN, createBreaker } from './breaker.ts';
import { AWAY_MS, FAILURES_MAX, FAILURES_WINDOW_MS } from './circuit.ts';

const PROBE_AFTER_MS = 2_000;

type Answer = 'good' | 'bad' | 'none';

const PROOFS = { good: 'reachable', bad: 'unreachable', none: 'unknown' } as const;

function aBreaker(accounts: readonly string[] = ['a']) {
  const clock = { nowMs: 0 };
  const breaker = createBreaker<Answer>({
    proofOf: (answer) => PROOFS[answer],
    now: () => clock.nowMs,
    probeAfterMs: PROBE_AFTER_MS,
  });
  let calls = 0;
  /** A call of the next account in turn. */
  const begin = async (work: () => Promise<Answer>) => {
    calls += 1;
    return await breaker.run(accounts[calls % accounts.length]!, work);
  };
  const runAs = async (account: string, answer: Answer) =>
    await breaker.run(account, () => Promise.resolve(answer));
  const run = async (answer: Answer) => await begin(() => Promise.resolve(answer));
  const fail = async (times: number) => {
    for (let time = 0; time < times; time += 1) await run('bad');
  };
  return { breaker, clock, begin, run, runAs, fail };
}

const OPEN = { kind: 'open', failure: 'bad' };
const RAN = { kind: 'ran', value: 'good' };

describe.each([
  ['one account', ['a']],
  ['three accounts in turn', ['a', 'b', 'c']],
])('the breaker, called by %s', (_, accounts) => {
  it('opens after so many failures in a row, and begins nothing then', async () => {
    const { breaker, begin, fail } = aBreaker(accounts);
    await fail(FAILURES_MAX - 1);
    expect(breaker.isAway()).toBe(false);
    await fail(1);
    expect(breaker.isAway()).toBe(true);
    const work = vi.fn<() => Promise<Answer>>();
    expect(await begin(work)).toEqual(OPEN);
    expect(work).not.toHaveBeenCalled();
  });

  it('hands an answer on, whatever it is', async () => {
    const { run } = aBreaker(accounts);
    expect(await run('bad')).toEqual({ kind: 'ran', value: 'bad' });
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('stays closed where one good answer stands between the failures', async () => {
    const { breaker, fail, run } = aBreaker(accounts);
    await fail(FAILURES_MAX - 1);
    await run('good');
    await fail(FAILURES_MAX - 1);
    expect(breaker.isAway()).toBe(false);
  });

  it('counts a call that proves nothing as neither, and hands its answer on', async () => {
    const { breaker, fail, run } = aBreaker(accounts);
    await fail(FAILURES_MAX - 1);
    expect(await run('none')).toEqual({ kind: 'ran', value: 'none' });
    expect(breaker.isAway()).toBe(false);
    await fail(1);
    expect(breaker.isAway()).toBe(true);
  });

  it('stays open where the one call that it let through proves nothing', async () => {
    const { clock, fail, run } = aBreaker(accounts);
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    expect(await run('none')).toEqual({ kind: 'ran', value: 'none' });
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('forgets failures that are older than its window', async () => {
    const { breaker, clock, fail } = aBreaker(accounts);
    await fail(FAILURES_MAX - 1);
    clock.nowMs = FAILURES_WINDOW_MS;
    await fail(FAILURES_MAX - 1);
    expect(breaker.isAway()).toBe(false);
    await fail(1);
    expect(breaker.isAway()).toBe(true);
  });

  it('lets one call through after a while, at once answers the others, and closes when it succeeds', async () => {
    const { breaker, begin, clock, fail, run } = aBreaker(accounts);
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS - 1;
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs = PROBE_AFTER_MS;
    const answer = Promise.withResolvers<Answer>();
    const probe = begin(() => answer.promise);
    expect(await Promise.all([run('good'), run('bad')])).toEqual([OPEN, OPEN]);
    answer.resolve('good');
    expect(await probe).toEqual({ kind: 'ran', value: 'good' });
    expect(breaker.isAway()).toBe(false);
    await fail(FAILURES_MAX - 1);
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('waits as long again when the one call fails', async () => {
    const { clock, fail, run } = aBreaker(accounts);
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    expect(await run('bad')).toEqual({ kind: 'ran', value: 'bad' });
    expect(await run('good')).toEqual(OPEN);
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('goes by its own clock when the time of day is set back', async () => {
    const { clock, fail, run } = aBreaker(accounts);
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
    const { breaker, clock, fail, run } = aBreaker(accounts);
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
    const { begin, clock, fail, run } = aBreaker(accounts);
    const late = Promise.withResolvers<Answer>();
    const slow = begin(() => late.promise);
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    const answer = Promise.withResolvers<Answer>();
    const probe = begin(() => answer.promise);
    late.resolve('bad');
    await slow;
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await run('good')).toEqual(OPEN);
    answer.resolve('good');
    await probe;
    expect(await run('good')).toEqual({ kind: 'ran', value: 'good' });
  });

  it('lets another call try where a bug ended the one that tried', async () => {
    const { begin, clock, fail, run } = aBreaker(accounts);
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    await expect(begin(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    expect(await run('bad')).toEqual({ kind: 'ran', value: 'bad' });
    expect(await run('good')).toEqual(OPEN);
  });

  it('passes a bug on and counts it for nothing', async () => {
    const { begin, breaker } = aBreaker(accounts);
    for (let time = 0; time < 2 * FAILURES_MAX; time += 1) {
      await expect(begin(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    }
    expect(breaker.isAway()).toBe(false);
  });
});

describe('the failures of one account', () => {
  it('hold back its calls alone, however many there are', async () => {
    const { breaker, runAs, fail } = aBreaker();
    await fail(3 * FAILURES_MAX);
    expect(await runAs('a', 'good')).toEqual(OPEN);
    expect(await runAs('b', 'good')).toEqual(RAN);
    expect(breaker.accountsAway()).toBe(1);
  });

  it('of many calls at a time hold back no other one', async () => {
    const { breaker, runAs } = aBreaker();
    const held = Promise.withResolvers<Answer>();
    const calls = Array.from({ length: 250 }, () => breaker.run('a', () => held.promise));
    held.resolve('bad');
    await Promise.all(calls);
    await runAs('b', 'bad');
    expect(await runAs('a', 'good')).toEqual(OPEN);
    expect(await runAs('b', 'good')).toEqual(RAN);
  });

  it('are in a row, whatever others have answered', async () => {
    const { runAs } = aBreaker();
    for (let time = 0; time < FAILURES_MAX; time += 1) {
      await runAs('a', 'bad');
      await runAs('b', 'good');
    }
    expect(await runAs('a', 'good')).toEqual(OPEN);
  });

  it('are no row with an answer of its own between', async () => {
    const { runAs, fail, breaker } = aBreaker();
    await fail(FAILURES_MAX - 1);
    await runAs('b', 'bad');
    await runAs('a', 'good');
    await fail(FAILURES_MAX - 1);
    expect(await runAs('a', 'good')).toEqual(RAN);
    expect(breaker.accountsAway()).toBe(0);
  });

  it('are the operation’s, until another call that was begun since is answered', async () => {
    const { breaker, clock, runAs, fail } = aBreaker();
    const answer = Promise.withResolvers<Answer>();
    const early = breaker.run('b', () => answer.promise);
    clock.nowMs = 1;
    await fail(FAILURES_MAX);
    answer.resolve('good');
    await early;
    expect([breaker.isAway(), breaker.accountsAway()]).toEqual([true, 1]);
    clock.nowMs = 2;
    await runAs('b', 'good');
    expect([breaker.isAway(), breaker.accountsAway()]).toEqual([false, 1]);
    clock.nowMs = PROBE_AFTER_MS + 1;
    await runAs('a', 'bad');
    expect([breaker.isAway(), breaker.accountsAway()]).toEqual([false, 1]);
  });

  it('are forgotten where so many others have failed since', async () => {
    const { runAs, fail } = aBreaker();
    await fail(FAILURES_MAX - 1);
    for (let other = 0; other < ACCOUNTS_MAX; other += 1) {
      await runAs(`other ${other}`, 'bad');
      await runAs('healthy', 'good');
    }
    await fail(1);
    expect(await runAs('a', 'good')).toEqual(RAN);
  });
});

describe('the failures of several accounts', () => {
  it('hold back nobody else while they are fewer than three', async () => {
    const { breaker, runAs, fail } = aBreaker(['a', 'b']);
    await fail(2 * FAILURES_MAX);
    expect(await runAs('a', 'good')).toEqual(OPEN);
    expect(await runAs('b', 'good')).toEqual(OPEN);
    expect(breaker.isAway()).toBe(true);
    expect(await runAs('c', 'good')).toEqual(RAN);
  });

  it('hold back everybody from three on, until one call is answered', async () => {
    const { breaker, clock, runAs, fail } = aBreaker(['a', 'b', 'c']);
    await fail(FAILURES_MAX);
    expect(await runAs('d', 'good')).toEqual(OPEN);
    expect(breaker.accountsAway()).toBe(0);
    clock.nowMs = PROBE_AFTER_MS;
    expect(await runAs('d', 'good')).toEqual(RAN);
    for (const account of ['a', 'b', 'c']) expect(await runAs(account, 'good')).toEqual(RAN);
  });

  it('hold back an account alone, where it goes on to fail once others are answered', async () => {
    const { clock, runAs, fail } = aBreaker(['a', 'b', 'c']);
    await fail(FAILURES_MAX);
    clock.nowMs = PROBE_AFTER_MS;
    await runAs('d', 'good');
    // Each has had three of its ten; the tenth failure opened the one of all and is not counted for its account.
    for (let call = 0; call < FAILURES_MAX - 3; call += 1) {
      for (const account of ['a', 'b', 'c']) {
        await runAs(account, 'bad');
        await runAs('d', 'good');
      }
    }
    for (const account of ['a', 'b', 'c']) expect(await runAs(account, 'good')).toEqual(OPEN);
    expect(await runAs('d', 'good')).toEqual(RAN);
  });

  it('count where they are among the last ten of the row', async () => {
    const { runAs, fail } = aBreaker();
    for (const account of ['b', 'c']) await runAs(account, 'bad');
    await fail(FAILURES_MAX - ACCOUNTS_MIN + 1);
    expect(await runAs('d', 'good')).toEqual(OPEN);
  });
});

describe('the call that tries while calls of all accounts are held back', () => {
  async function anOpenOne() {
    const opened = aBreaker(['a', 'b', 'c']);
    await opened.fail(FAILURES_MAX);
    opened.clock.nowMs = PROBE_AFTER_MS;
    return opened;
  }

  it('is another account’s where that waits, for as long again', async () => {
    const { clock, runAs } = await anOpenOne();
    expect(await runAs('a', 'bad')).toMatchObject({ kind: 'ran' });
    expect(await runAs('b', 'good')).toEqual(OPEN);
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await runAs('a', 'bad')).toEqual(OPEN);
    expect(await runAs('b', 'good')).toEqual(RAN);
  });

  it('is that of an account that has not tried yet, however many others have', async () => {
    const { clock, runAs } = await anOpenOne();
    for (const [round, account] of ['a', 'b', 'c'].entries()) {
      clock.nowMs = (round + 1) * PROBE_AFTER_MS;
      expect(await runAs(account, 'bad')).toMatchObject({ kind: 'ran' });
      expect(await runAs('d', 'good')).toEqual(OPEN);
    }
    clock.nowMs = 4 * PROBE_AFTER_MS;
    for (const account of ['a', 'b', 'c']) expect(await runAs(account, 'bad')).toEqual(OPEN);
    expect(await runAs('d', 'good')).toEqual(RAN);
  });

  it('is that of the account that tried longest ago, once all have', async () => {
    const { clock, runAs } = await anOpenOne();
    for (const [round, account] of ['d', 'a', 'b', 'c'].entries()) {
      clock.nowMs = (round + 1) * PROBE_AFTER_MS;
      expect(await runAs(account, 'bad')).toMatchObject({ kind: 'ran' });
    }
    for (const account of ['c', 'b', 'd']) expect(await runAs(account, 'bad')).toEqual(OPEN);
    clock.nowMs = 5 * PROBE_AFTER_MS;
    for (const account of ['a', 'b', 'c']) expect(await runAs(account, 'bad')).toEqual(OPEN);
    expect(await runAs('d', 'good')).toEqual(RAN);
  });

  it('is another account’s also where that has asked while it was tried', async () => {
    const { breaker, clock, runAs } = await anOpenOne();
    const answer = Promise.withResolvers<Answer>();
    const probe = breaker.run('a', () => answer.promise);
    expect(await runAs('b', 'good')).toEqual(OPEN);
    answer.resolve('bad');
    await probe;
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await runAs('a', 'bad')).toEqual(OPEN);
    expect(await runAs('b', 'good')).toEqual(RAN);
  });

  it('is the same account’s where only calls of its own were held back while it tried', async () => {
    const { breaker, clock, runAs } = await anOpenOne();
    const answer = Promise.withResolvers<Answer>();
    const probe = breaker.run('a', () => answer.promise);
    expect(await runAs('a', 'good')).toEqual(OPEN);
    answer.resolve('bad');
    await probe;
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await runAs('a', 'good')).toEqual(RAN);
  });

  it('is the same account’s where no other waits, or the other does not come back', async () => {
    const { clock, runAs } = await anOpenOne();
    await runAs('a', 'bad');
    clock.nowMs = 2 * PROBE_AFTER_MS;
    expect(await runAs('a', 'bad')).toMatchObject({ kind: 'ran' });
    expect(await runAs('b', 'good')).toEqual(OPEN);
    clock.nowMs = 4 * PROBE_AFTER_MS;
    expect(await runAs('a', 'good')).toEqual(RAN);
  });
});
