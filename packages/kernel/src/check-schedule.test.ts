import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { nextCheckMs } from './check-schedule.ts';

test('checks come at growing distances up to the longest', () => {
  const periods = { firstMs: 5_000, maxMs: 30_000 };
  const distances = [0, 1, 2, 3, 50].map((checks) => nextCheckMs(checks, periods, () => 0));
  expect(distances).toEqual([5_000, 10_000, 20_000, 30_000, 30_000]);
});

test('a check is never later than its distance and at most a tenth earlier', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.double({ min: 0, max: 1, noNaN: true }), (checks, random) => {
      const periods = { firstMs: 1_000, maxMs: 300_000 };
      const exact = nextCheckMs(checks, periods, () => 0);
      const jittered = nextCheckMs(checks, periods, () => random);
      expect(jittered).toBeLessThanOrEqual(exact);
      expect(jittered).toBeGreaterThanOrEqual(Math.floor(exact * 0.9));
    }),
  );
});
