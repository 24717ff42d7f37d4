import { testSeed } from './test-seed.ts';

/**
 * Long runs: the same tests with the counts that take minutes. `npm run test:long` sets the
 * variable; everything else runs the usual counts.
 */
export const isLong = process.env['PIXMESH_LONG'] === '1';

/** The count of a usual run, or the count of a long one. */
export function scaled<T>(usual: T, long: T): T {
  return isLong ? long : usual;
}

/**
 * Of rows that prove the same in many places: all of them in a long run, `count` of them in a usual one. Which ones
 * follows the seed, so that every row comes within some runs.
 */
export function sampled<T>(rows: readonly T[], count: number, seed = testSeed()): readonly T[] {
  if (isLong || rows.length <= count) return rows;
  const first = seed % rows.length;
  return [...rows.slice(first), ...rows.slice(0, first)].slice(0, count);
}

/**
 * The share of rows that the part of a long run goes through, where a proof is too long for one part: as in `1/2`. All
 * of them elsewhere.
 */
export function shareOf<T>(
  rows: readonly T[],
  share = process.env['PIXMESH_LONG_SHARE'] ?? '1/1',
): readonly T[] {
  const [number = 1, of = 1] = share.split('/').map(Number);
  return rows.filter((_, index) => index % of === number - 1);
}
