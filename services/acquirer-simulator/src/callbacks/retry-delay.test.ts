import { describe, expect, it } from 'vitest';

import { ATTEMPTS_MAX, retryDelayMs } from './retry-delay.ts';

const delays = { firstMs: 500, maxMs: 10_000 };

describe('the wait between attempts', () => {
  it('doubles up to its maximum', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((attempts) => retryDelayMs(attempts, delays));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('ends with the last attempt', () => {
    expect(retryDelayMs(ATTEMPTS_MAX - 1, delays)).toBe(10_000);
    expect(retryDelayMs(ATTEMPTS_MAX, delays)).toBeNull();
  });
});
