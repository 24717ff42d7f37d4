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
  const cursor = { listedUntil: before(HOUR_MS), sweepFrom: null, sweepPage: 0, readAt };
  const { fresh } = nextWindows(cursor, { overlapMs });
  expect(fresh.from).toEqual(before(HOUR_MS + overlapMs));
  expect(fresh.to.getTime()).toBeGreaterThan(readAt.getTime() + 25 * HOUR_MS);
});

test('the walk over older days leaves no gap, reaches 120 days, and begins anew', () => {
  let sweepFrom: Date | null = null;
  let end = readAt;
  for (let runs = 0; runs < 1_000; runs += 1) {
    const cursor = { listedUntil: readAt, sweepFrom, sweepPage: 0, readAt };
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
  const cursor = { listedUntil: readAt, sweepFrom: before(DAY_MS), sweepPage: 4, readAt };
  const { sweep } = nextWindows(cursor, { overlapMs });
  expect(sweep).toMatchObject({ page: 4, window: { from: before(DAY_MS) } });
});
