import { expect, test } from 'vitest';

import { cutIntoSteps, type Step } from './slices.ts';

function stepsOf(...versions: [from: number, version: number][]): Step[] {
  const owners = versions.map(([from, version], index) => ({
    accountId: `${index}`,
    from: BigInt(from),
    version: BigInt(version),
  }));
  return [...cutIntoSteps(owners)];
}

test('small owners share a step, each to its newest journal', () => {
  expect(stepsOf([0, 3], [2, 5])).toEqual([
    {
      slices: [
        { accountId: '0', from: 0n, to: null },
        { accountId: '1', from: 2n, to: null },
      ],
      journals: 6,
    },
  ]);
});

test('a large owner is cut into slices that touch, the last to its newest journal', () => {
  const steps = stepsOf([500, 25_000]);
  expect(steps.map(({ journals }) => journals)).toEqual([10_000, 10_000, 4_500]);
  expect(steps.flatMap(({ slices }) => slices.map(({ from, to }) => [from, to]))).toEqual([
    [500n, 10_500n],
    [10_500n, 20_500n],
    [20_500n, null],
  ]);
});

test('very many idle owners are cut too', () => {
  const idle = Array.from({ length: 2_500 }, (): [number, number] => [0, 0]);
  expect(stepsOf(...idle).map(({ slices }) => slices.length)).toEqual([1_000, 1_000, 500]);
});

test('an empty ledger has no slice', () => {
  expect(stepsOf()).toEqual([]);
});
