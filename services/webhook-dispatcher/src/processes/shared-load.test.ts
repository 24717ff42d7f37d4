import { expect, test } from 'vitest';

import { shareToLeave } from './shared-load.ts';

function aLoad(cpuShare: number, slotsUsed = 0) {
  return { cpuShare, slotsUsed, slotsMax: 100, lanes: 10 };
}

test.each([
  ['a sender that is alone', aLoad(1), [], 0],
  ['one that has room', aLoad(0.4, 40), [aLoad(0)], 0],
  ['one beside another that has as much to do', aLoad(0.9), [aLoad(0.7)], 0],
  ['one short of CPU beside an idle one', aLoad(0.8), [aLoad(0)], 0.5],
  ['one short of slots beside an idle one', aLoad(0.1, 80), [aLoad(0)], 0.5],
  ['one short of CPU beside three idle ones', aLoad(1), [aLoad(0), aLoad(0), aLoad(0)], 0.75],
  ['one that uses more than a core', aLoad(1.4), [aLoad(0.5)], 0.25],
])('%s leaves a part of its lanes: %#', (_name, own, others, share) => {
  expect(shareToLeave(own, others)).toBeCloseTo(share);
});
