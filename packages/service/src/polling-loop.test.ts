import { createLogger } from '@pixmesh/telemetry/logger';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import {
  type NextTurn,
  type PollingLoop,
  type PollingLoopOptions,
  startPollingLoop,
  type TurnContext,
} from './polling-loop.ts';
import { createWakeSignal } from './wake-signal.ts';

const POLL_MS = 1_000;

let loops: PollingLoop[];

beforeEach(() => {
  vi.useFakeTimers();
  loops = [];
});
afterEach(async () => {
  await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
  vi.useRealTimers();
});

type Work = (context: TurnContext) => NextTurn | Promise<NextTurn>;

/** A loop whose turns are recorded with the time at which they began. */
function aLoop(
  work: Work = () => ({ pauseMs: POLL_MS }),
  changes: Partial<PollingLoopOptions> = {},
) {
  const startedMs = performance.now();
  const turns: { atMs: number; isWoken: boolean }[] = [];
  const logLines: { level: number; msg: string }[] = [];
  const signal = createWakeSignal();
  const loop = startPollingLoop({
    name: 'test loop',
    logger: createLogger('test', 'info', { write: (line) => void logLines.push(JSON.parse(line)) }),
    signal,
    turn: async (context) => {
      turns.push({ atMs: performance.now() - startedMs, isWoken: context.isWoken });
      return await work(context);
    },
    ...changes,
  });
  loops.push(loop);
  return {
    loop,
    signal,
    turns,
    logLines,
    startsMs: () => turns.map(({ atMs }) => atMs),
  };
}

/** A turn that the test ends. */
function aLongTurn() {
  const gates: (() => void)[] = [];
  const work = async (): Promise<NextTurn> => {
    await new Promise<void>((resolve) => gates.push(resolve));
    return { pauseMs: POLL_MS };
  };
  return { work, end: () => gates.shift()?.() };
}

describe('a loop turns', () => {
  test('at once, and again after the pause that the turn asked for', async () => {
    const pauses = [10, 300, 5];
    const { startsMs } = aLoop(() => ({ pauseMs: pauses.shift() ?? POLL_MS }));
    await vi.advanceTimersByTimeAsync(500);
    expect(startsMs()).toEqual([0, 10, 310, 315]);
  });

  test('without a pause where the turn asks for none', async () => {
    let left = 100;
    const { turns } = aLoop(() => ({ pauseMs: (left -= 1) > 0 ? 0 : POLL_MS }));
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toHaveLength(100);
  });

  test('for the first time after the first pause, where there is one', async () => {
    const { startsMs } = aLoop(undefined, { firstPauseMs: 300 });
    await vi.advanceTimersByTimeAsync(500);
    expect(startsMs()).toEqual([300]);
  });
});

describe('a notification', () => {
  test('ends the pause, and the turn knows why it came', async () => {
    const { signal, turns } = aLoop();
    await vi.advanceTimersByTimeAsync(100);
    signal.notify();
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect(turns).toEqual([
      { atMs: 0, isWoken: false },
      { atMs: 100, isWoken: true },
      { atMs: 1_100, isWoken: false },
    ]);
  });

  test('before the loop has started is not lost', async () => {
    const signal = createWakeSignal();
    signal.notify();
    const { turns } = aLoop(undefined, { signal });
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toEqual([{ atMs: 0, isWoken: true }]);
  });

  test('during a turn is followed by another turn, however many there were by one', async () => {
    const { work, end } = aLongTurn();
    const { signal, turns } = aLoop(work);
    await vi.advanceTimersByTimeAsync(50);
    for (let count = 0; count < 5; count += 1) signal.notify();
    end();
    await vi.advanceTimersByTimeAsync(10);
    end();
    await vi.advanceTimersByTimeAsync(10);
    expect(turns).toEqual([
      { atMs: 0, isWoken: false },
      { atMs: 50, isWoken: true },
    ]);
    end();
  });

  test('in the moment in which a pause ends by itself is not lost', async () => {
    const { signal, turns } = aLoop();
    setTimeout(signal.notify, POLL_MS);
    await vi.advanceTimersByTimeAsync(POLL_MS + 1);
    expect(turns.filter(({ isWoken }) => isWoken)).toHaveLength(1);
  });

  test('shares a turn with all others that come within the gathering time', async () => {
    const { signal, startsMs } = aLoop(() => ({ pauseMs: POLL_MS, gatherMs: 20 }));
    for (let atMs = 0; atMs < 100; atMs += 1) {
      signal.notify();
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(startsMs()).toEqual([0, 20, 40, 60, 80, 100]);
  });
});

describe('a turn that fails', () => {
  test('is repeated at growing intervals, which no notification ends', async () => {
    const { signal, startsMs } = aLoop(() => Promise.reject(new Error('away')));
    for (let count = 0; count < 70; count += 1) {
      signal.notify();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(startsMs()).toEqual([0, 250, 750, 1_750, 3_750, 5_750]);
  });

  test('is logged once, and so is the end of the failures', async () => {
    let failures = 3;
    const { logLines } = aLoop(() => {
      failures -= 1;
      if (failures >= 0) throw new Error('away');
      return { pauseMs: POLL_MS };
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(logLines).toMatchObject([
      { level: 40, job: 'test loop', msg: 'job failed, retrying' },
      { level: 30, job: 'test loop', failures: 3, msg: 'job recovered' },
    ]);
  });

  test('leaves what was notified meanwhile to the next one', async () => {
    const outcomes = [() => Promise.reject(new Error('away'))];
    const { signal, turns } = aLoop(
      async () => await (outcomes.shift()?.() ?? Promise.resolve({ pauseMs: POLL_MS })),
    );
    signal.notify();
    await vi.advanceTimersByTimeAsync(300);
    expect(turns[1]).toEqual({ atMs: 250, isWoken: true });
  });
});

describe('a stop', () => {
  test('ends a pause at once, and no turn follows', async () => {
    const { loop, signal, turns } = aLoop();
    await vi.advanceTimersByTimeAsync(10);
    await loop[Symbol.asyncDispose]();
    signal.notify();
    await vi.advanceTimersByTimeAsync(10 * POLL_MS);
    expect(turns).toHaveLength(1);
  });

  test('ends the pause after a failure at once', async () => {
    const { loop, turns } = aLoop(() => Promise.reject(new Error('away')));
    await vi.advanceTimersByTimeAsync(10);
    await loop[Symbol.asyncDispose]();
    expect(turns).toHaveLength(1);
  });

  test('waits for the turn in progress, which learns of it', async () => {
    const { work, end } = aLongTurn();
    let signalled: AbortSignal | undefined;
    const { loop } = aLoop(({ stopping }) => {
      signalled = stopping;
      return work();
    });
    let isStopped = false;
    const stopped = loop[Symbol.asyncDispose]().then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect([signalled?.aborted, isStopped]).toEqual([true, false]);
    end();
    await stopped;
  });

  test('makes no noise of a turn that fails because of it', async () => {
    const { loop, logLines } = aLoop(
      ({ stopping }) =>
        new Promise((_, reject) => {
          stopping.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    );
    await loop[Symbol.asyncDispose]();
    expect(logLines).toEqual([]);
  });
});

describe('a loop is alive', () => {
  test('while it turns, and while it pauses for longer than a turn may take', async () => {
    const { loop } = aLoop(() => ({ pauseMs: 3_600_000 }));
    await vi.advanceTimersByTimeAsync(3_500_000);
    expect(loop.isAlive()).toBe(true);
  });

  test('while its turns fail', async () => {
    const { loop } = aLoop(() => Promise.reject(new Error('away')));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(loop.isAlive()).toBe(true);
  });

  test('no more once a turn hangs', async () => {
    const { work, end } = aLongTurn();
    const { loop } = aLoop(work);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(loop.isAlive()).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(loop.isAlive()).toBe(false);
    end();
  });
});
