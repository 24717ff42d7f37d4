import { expect, test } from 'vitest';

import { compareTimings, quantile, T_LIMIT, welchT } from './compare-timings.ts';
import { seededRandom } from './seeded-random.ts';

const PAIRS = 5_000;

/** Answer times as a busy machine gives them: around 3 ms, a long tail, now and then a pause. */
function aSample(random: () => number, { count = PAIRS, extraMs = 0 } = {}): number[] {
  return Array.from({ length: count }, () => {
    const tailMs = -0.5 * Math.log(1 - random());
    const pauseMs = random() < 0.01 ? 50 * random() : 0;
    return 2.5 + 0.2 * random() + tailMs + pauseMs + extraMs;
  });
}

test('the statistic is that of a worked example', () => {
  // Worked out with another program: means 19.37 and 22.51.
  const first = [19.8, 20.4, 19.6, 17.8, 18.5, 18.9, 18.3, 18.9, 19.5, 22.0];
  const second = [28.2, 26.6, 20.1, 23.3, 25.2, 22.1, 17.7, 27.6, 20.6, 13.7];
  expect(welchT(first, second)).toBeCloseTo(2.074_014_626, 8);
  expect(welchT(second, first)).toBeCloseTo(-2.074_014_626, 8);
});

test('samples without any spread are equal or infinitely apart', () => {
  expect(welchT([1, 1], [1, 1])).toBe(0);
  expect(welchT([1, 1], [2, 2])).toBe(Infinity);
  expect(welchT([2, 2], [1, 1])).toBe(-Infinity);
});

test('a quantile is a value of the sample', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2);
  expect(quantile([4, 1, 3, 2], 1)).toBe(4);
  expect(quantile([7], 0.1)).toBe(7);
});

test('a planted difference of a twentieth of a millisecond is found', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = seededRandom(seed);
    const { t, differenceMs } = compareTimings(aSample(random), aSample(random, { extraMs: 0.05 }));
    expect([seed, t > T_LIMIT]).toEqual([seed, true]);
    expect(differenceMs).toBeGreaterThan(0.02);
    expect(differenceMs).toBeLessThan(0.08);
  }
});

test('a difference in either direction is found', () => {
  const random = seededRandom(7);
  const { t } = compareTimings(aSample(random, { extraMs: 0.05 }), aSample(random));
  expect(t).toBeLessThan(-T_LIMIT);
});

test('equal distributions pass, also in small samples and of unequal size', () => {
  let largest = 0;
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seededRandom(seed);
    const [first, second] = [aSample(random, { count: 400 }), aSample(random, { count: 300 })];
    largest = Math.max(largest, Math.abs(compareTimings(first, second).t));
  }
  expect(largest).toBeLessThan(T_LIMIT);
});

test('a few pauses that hit one side alone decide nothing', () => {
  const random = seededRandom(11);
  const [first, second] = [aSample(random), aSample(random)];
  for (let index = 0; index < 50; index += 1) second[index] = 2_000;
  const { t, tRaw } = compareTimings(first, second);
  expect(tRaw).toBeGreaterThan(T_LIMIT);
  expect(Math.abs(t)).toBeLessThan(T_LIMIT);
});
