import { describe, expect, test } from 'vitest';

import { ATTEMPTS_MAX, nextStep, RETRY_DELAYS_MS } from './retry-schedule.ts';

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
    expect(nextStep(number, 'failed')).toEqual({ status: 'pending', delayMs: minutes * MINUTE_MS });
  });

  test('ends as failed after the eighth failure', () => {
    expect(nextStep(8, 'failed')).toEqual({ status: 'failed' });
  });

  test('ends with a success at any attempt', () => {
    for (let number = 1; number <= ATTEMPTS_MAX; number += 1) {
      expect(nextStep(number, 'succeeded')).toEqual({ status: 'succeeded' });
    }
  });
});
