/** Middle of an odd number of rounds. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}

export function medianOf<Round>(
  rounds: readonly Round[],
  figure: (round: Round) => number,
): number {
  return median(rounds.map(figure));
}

export function sumOf<Round>(rounds: readonly Round[], figure: (round: Round) => number): number {
  return rounds.reduce((sum, round) => sum + figure(round), 0);
}

/** Rounds of all sides in turn, so that a drift of the machine meets all. */
export async function runInTurns<Side extends string, Round>(
  sides: readonly Side[],
  rounds: number,
  run: (side: Side, round: number) => Promise<Round>,
): Promise<Record<Side, Round[]>> {
  const results = Object.fromEntries(sides.map((side) => [side, [] as Round[]]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const side of sides) results[side]?.push(await run(side, round));
  }
  return results as Record<Side, Round[]>;
}

/** Round by round, so that a drift of the machine stays out of it; the text says all of them and the middle one. */
export function describeRatios<Round>(
  ours: readonly Round[],
  baseline: readonly Round[],
  figure: (round: Round) => number,
): string {
  const ratios = ours.map((round, index) => {
    const beside = baseline[index];
    return beside === undefined ? Number.NaN : figure(round) / figure(beside);
  });
  const list = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
  return `${list} (median ${median(ratios).toFixed(2)})`;
}
