import { describe, expect, test } from 'vitest';

import { ATTEMPTS_MAX, RETRY_DELAYS_MS, retryDelayMs } from './retry-schedule.ts';

const MINUTE_MS = 60_000;

describe('the schedule', () => {
  test('has eight attempts over 22 h 21 min', () => {
    expect(ATTEMPTS_MAX).toBe(8);
    expect(RETRY_DELAYS_MS.reduce((sum, delayMs) => sum + delayMs, 0)).toBe(
      (22 * 60 + 21) * MINUTE_MS,
    );
  });

  test.each([
    [1, 1],
    [2, 5],
    [3, 15],
    [4, 60],
    [5, 180],
    [6, 360],
    [7, 720],
  ])('waits after failed attempt %i for %i minutes', (number, minutes) => {
    expect(retryDelayMs(number)).toBe(minutes * MINUTE_MS);
  });

  test('ends after the eighth failure', () => {
    expect(retryDelayMs(8)).toBeNull();
  });
});
