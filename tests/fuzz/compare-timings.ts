/** Times of two kinds of request, measured in turns, and whether they can be told apart. */
export type TimingComparison = {
  /** Welch's t over what is left without the slow tail; beyond `T_LIMIT` the two are distinguishable. */
  t: number;
  /** The same over everything that was measured. */
  tRaw: number;
  /** How much longer the second one takes on average, without the slow tail. */
  differenceMs: number;
  /** Measurements of either that were compared. */
  counts: readonly [number, number];
};

/** Equal distributions pass it once in 150,000 comparisons. */
export const T_LIMIT = 4.5;

/** What is slower than this share of all measurements is noise of the machine, not of the answer. */
const KEPT_SHARE = 0.9;

/**
 * Compares two samples by Welch's t-test, as published work on timing leaks does: the slow tail is cut off
 * at one and the same time for both, so that a pause of the machine decides nothing, while a difference in
 * the middle shows in full.
 */
export function compareTimings(
  first: readonly number[],
  second: readonly number[],
): TimingComparison {
  const limitMs = quantile([...first, ...second], KEPT_SHARE);
  const kept = [first, second].map((sample) => sample.filter((ms) => ms <= limitMs));
  const [keptFirst = [], keptSecond = []] = kept;
  return {
    t: welchT(keptFirst, keptSecond),
    tRaw: welchT(first, second),
    differenceMs: meanOf(keptSecond) - meanOf(keptFirst),
    counts: [keptFirst.length, keptSecond.length],
  };
}

/** Welch's t: the difference of the means in units of its standard error; positive when the second is larger. */
export function welchT(first: readonly number[], second: readonly number[]): number {
  const difference = meanOf(second) - meanOf(first);
  const standardError = Math.sqrt(
    varianceOf(first) / first.length + varianceOf(second) / second.length,
  );
  if (standardError === 0) return difference === 0 ? 0 : Math.sign(difference) * Infinity;
  return difference / standardError;
}

/** The smallest value that at least this share of the sample does not exceed. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b);
  const index = Math.max(0, Math.ceil(share * sorted.length) - 1);
  return sorted[index] ?? Number.NaN;
}

function meanOf(sample: readonly number[]): number {
  return sample.reduce((sum, value) => sum + value, 0) / sample.length;
}

function varianceOf(sample: readonly number[]): number {
  const mean = meanOf(sample);
  return sample.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (sample.length - 1);
}
