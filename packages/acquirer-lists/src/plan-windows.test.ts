import { describe, expect, test } from 'vitest';

import { afterWindow, nextRun } from './plan-windows.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const INTERVAL_MS = 10_000;
const readAt = new Date('2026-11-22T12:00:00Z');

const fresh = { windows: { kind: 'fresh', overlapMs: 900_000 }, intervalMs: INTERVAL_MS } as const;

function before(ms: number): Date {
  return new Date(readAt.getTime() - ms);
}

/** The windows of one round. */
function roundOf(walk: Parameters<typeof nextRun>[0]) {
  const listedUntil = before(DAY_MS);
  const windows = [];
  let run = nextRun(walk, { listedUntil, run: null, readAt });
  for (let runs = 1; runs < 10_000; runs += 1) {
    windows.push(run.window);
    const after = afterWindow(walk, { listedUntil, run });
    if (after.run === null) return { windows, listedUntil: after.listedUntil };
    expect(after.listedUntil).toEqual(listedUntil);
    run = after.run;
  }
  throw new Error('the round does not end');
}

describe('what is new', () => {
  test('goes back behind the run before, and is open towards clocks that are ahead', () => {
    const run = nextRun(fresh, { listedUntil: before(HOUR_MS), run: null, readAt });
    expect(run).toMatchObject({ page: 0, beganAt: readAt });
    expect(run.window.from).toEqual(before(HOUR_MS + 900_000));
    expect(run.window.to.getTime()).toBeGreaterThan(readAt.getTime() + 25 * HOUR_MS);
    expect(afterWindow(fresh, { listedUntil: before(HOUR_MS), run })).toEqual({
      listedUntil: readAt,
      run: null,
    });
  });

  test('of a window that was not finished is its rest, whatever time it is', () => {
    const window = { from: before(3 * DAY_MS), to: before(DAY_MS) };
    const run = { window, beganAt: before(2 * HOUR_MS), page: 200 };
    expect(nextRun(fresh, { listedUntil: before(DAY_MS), run, readAt })).toEqual(run);
  });

  test('begins anew where it began in the future, by a clock that was set back since', () => {
    const window = { from: before(-HOUR_MS + 900_000), to: before(-49 * HOUR_MS) };
    const run = { window, beganAt: before(-HOUR_MS), page: 3 };
    const anew = nextRun(fresh, { listedUntil: before(HOUR_MS), run, readAt });
    expect(anew).toMatchObject({ page: 0, beganAt: readAt });
    expect(anew.window.from).toEqual(before(HOUR_MS + 900_000));
  });
});

describe('a walk', () => {
  test.each([
    { days: 7, roundMs: 120_000, intervalMs: 10_000, runsMax: 13 },
    { days: 120, roundMs: 120_000, intervalMs: 10_000, runsMax: 13 },
    { days: 120, roundMs: 3_600_000, intervalMs: 2_000, runsMax: 481 },
    { days: 7, roundMs: 120_000, intervalMs: 600_000, runsMax: 1 },
  ])(
    'over $days days leaves no gap, reaches its horizon in its time, and says when it began',
    ({ days, roundMs, intervalMs, runsMax }) => {
      const windows = { kind: 'walk', horizonMs: days * DAY_MS, roundMs } as const;
      const round = roundOf({ windows, intervalMs });
      expect(round.listedUntil).toEqual(readAt);
      expect(round.windows.length).toBeLessThanOrEqual(runsMax);
      expect(round.windows[0]?.to.getTime()).toBeGreaterThan(readAt.getTime() + 25 * HOUR_MS);
      for (const [index, { to }] of round.windows.entries()) {
        if (index > 0) expect(to).toEqual(round.windows[index - 1]?.from);
      }
      const end = round.windows.at(-1)?.from.getTime() ?? Number.NaN;
      expect(end).toBeLessThanOrEqual(before(days * DAY_MS).getTime());
    },
  );
});
