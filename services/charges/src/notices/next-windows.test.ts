import { expect, test } from 'vitest';

import { nextWindows } from './next-windows.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const readAt = new Date('2026-11-21T12:00:00.000Z');
const overlapMs = 900_000;

function before(ms: number): Date {
  return new Date(readAt.getTime() - ms);
}

test('a run goes back behind the one before, and is open towards clocks that are ahead', () => {
  const cursor = {
    listedUntil: before(HOUR_MS),
    sweepFrom: null,
    sweepPage: 0,
    unfinished: null,
    readAt,
  };
  const { fresh } = nextWindows(cursor, { overlapMs });
  expect(fresh.window.from).toEqual(before(HOUR_MS + overlapMs));
  expect(fresh.window.to.getTime()).toBeGreaterThan(readAt.getTime() + 25 * HOUR_MS);
  expect(fresh).toMatchObject({ page: 0, readAt });
});

test('a window that was not finished is gone on with as it was, whatever time it is', () => {
  const window = { from: before(3 * DAY_MS), to: before(DAY_MS) };
  const unfinished = { window, readAt: before(2 * HOUR_MS), page: 200 };
  const cursor = { listedUntil: before(DAY_MS), sweepFrom: null, sweepPage: 0, unfinished, readAt };
  expect(nextWindows(cursor, { overlapMs }).fresh).toEqual(unfinished);
});

test('the walk over older days leaves no gap, reaches 120 days, and begins anew', () => {
  let sweepFrom: Date | null = null;
  let end = readAt;
  for (let runs = 0; runs < 1_000; runs += 1) {
    const cursor = { listedUntil: readAt, sweepFrom, sweepPage: 0, unfinished: null, readAt };
    const { sweep } = nextWindows(cursor, { overlapMs });
    expect(sweep.window.to).toEqual(end);
    end = sweep.window.from;
    sweepFrom = sweep.next;
    if (sweepFrom === null) break;
  }
  expect(sweepFrom).toBeNull();
  expect(end.getTime()).toBeLessThanOrEqual(before(120 * DAY_MS).getTime());
});

test('a window whose pages were not all read is gone on with', () => {
  const cursor = {
    listedUntil: readAt,
    sweepFrom: before(DAY_MS),
    sweepPage: 4,
    unfinished: null,
    readAt,
  };
  const { sweep } = nextWindows(cursor, { overlapMs });
  expect(sweep).toMatchObject({ page: 4, window: { from: before(DAY_MS) } });
});
