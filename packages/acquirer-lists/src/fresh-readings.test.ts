import { describe, expect, test } from 'vitest';

import { freshReadings } from './fresh-readings.ts';
import type { ListReading } from './list-reading.ts';
import { afterWindow, nextRun } from './plan-windows.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;
const BEGIN_MS = Date.parse('2026-11-22T12:00:00Z');

/** Those of production. */
const PERIODS = {
  intervalMs: 10 * SECOND_MS,
  lateIntervalMs: 5 * MINUTE_MS,
  overlapMs: 15 * MINUTE_MS,
};

const [ordinary, late] = freshReadings(
  {
    name: 'list',
    pagesMax: 1,
    read: () => Promise.reject(new Error('nothing is read here')),
    compare: () => Promise.resolve(),
  },
  PERIODS,
);

type Item = { atMs: number; shownMs: number };

/** The times after its showing at which the runs of two hours read an item. */
function readsOf({ windows, intervalMs }: ListReading<unknown>, item: Item): number[] {
  const reads: number[] = [];
  let listedUntil = new Date(BEGIN_MS);
  for (let atMs = BEGIN_MS; atMs < BEGIN_MS + 120 * MINUTE_MS; atMs += intervalMs) {
    const run = nextRun(
      { windows, intervalMs },
      { listedUntil, run: null, readAt: new Date(atMs) },
    );
    const isInWindow =
      item.atMs >= run.window.from.getTime() && item.atMs < run.window.to.getTime();
    if (item.shownMs <= atMs && isInWindow) reads.push(atMs - item.shownMs);
    listedUntil = afterWindow({ windows, intervalMs }, { listedUntil, run }).listedUntil;
  }
  return reads;
}

/** Items at every place between two runs of either reading. */
function itemsShownLate(lateMs: number): Item[] {
  return Array.from({ length: 331 }, (_, second) => {
    const atMs = BEGIN_MS + 30 * MINUTE_MS + second * SECOND_MS;
    return { atMs, shownMs: atMs + lateMs };
  });
}

function firstReads(reading: ListReading<unknown>, lateMs: number): number[] {
  return itemsShownLate(lateMs).map((item) => readsOf(reading, item)[0] ?? Number.NaN);
}

test('readings have their names, and the ordinary one never goes back behind the overlap', () => {
  expect([ordinary.name, late.name]).toEqual(['list', 'list.late']);
  const [short] = freshReadings(ordinary, { ...PERIODS, overlapMs: 5 * SECOND_MS });
  expect(short.windows).toEqual({ kind: 'fresh', overlapMs: 5 * SECOND_MS });
});

describe('an item is found', () => {
  test.each([0, 10, 30])('by the next ordinary run, if it is shown within %i s', (lateS) => {
    const firsts = firstReads(ordinary, lateS * SECOND_MS);
    expect(Math.max(...firsts)).toBeLessThan(PERIODS.intervalMs);
  });

  test.each([1, 7, 15])('by the next late run, if it is shown within %i minutes', (lateMinutes) => {
    const firsts = firstReads(late, lateMinutes * MINUTE_MS);
    expect(Math.max(...firsts)).toBeLessThan(PERIODS.lateIntervalMs);
  });

  test('by the next ordinary run, if it is dated ahead by a clock that is ahead', () => {
    const firsts = itemsShownLate(0).map(({ atMs, shownMs }) => {
      const [first] = readsOf(ordinary, { atMs: atMs + DAY_MS, shownMs });
      return first ?? Number.NaN;
    });
    expect(Math.max(...firsts)).toBeLessThan(PERIODS.intervalMs);
  });
});

test('both readings together read an item a tenth as often as one that always goes back the whole overlap', () => {
  const whole = { ...ordinary, windows: late.windows };
  const sum = (readings: ListReading<unknown>[]) =>
    itemsShownLate(0)
      .flatMap((item) => readings.map((reading) => readsOf(reading, item).length))
      .reduce((all, reads) => all + reads, 0);
  expect(sum([ordinary, late]) / sum([whole])).toBeLessThan(0.1);
});

test('an ordinary run reads nothing that is older than its overlap at the run before', () => {
  for (const item of itemsShownLate(0)) {
    const oldest = Math.max(...readsOf(ordinary, item));
    expect(oldest).toBeLessThanOrEqual(PERIODS.intervalMs + 30 * SECOND_MS);
  }
});
