import { expect, test } from 'vitest';

import { createWakeSenders } from './wake-senders.ts';

const OWN = 'a';
const OTHER = 'b';

function aProcess({ serves }: { serves: readonly string[] }) {
  const woken: (readonly string[])[] = [];
  const hints: (readonly string[])[] = [];
  const sender = {
    wake: (laneIds: readonly string[]) => void woken.push(laneIds),
    serves: (laneIds: readonly string[]) => laneIds.every((id) => serves.includes(id)),
  };
  return { woken, hints, sender, redis: { publish: (ids: readonly string[]) => hints.push(ids) } };
}

test('other processes get hints of the lanes alone that this one does not serve', () => {
  const { woken, hints, ...parts } = aProcess({ serves: [OWN] });
  const wakeSenders = createWakeSenders(parts);
  wakeSenders([OWN, OTHER]);
  wakeSenders([OWN]);
  expect(hints).toEqual([[OTHER]]);
  expect(woken).toEqual([[OWN, OTHER], [OWN]]);
});

test('where no lane is named all senders are woken, whatever this one serves', () => {
  const { woken, hints, ...parts } = aProcess({ serves: [OWN] });
  createWakeSenders(parts)([]);
  expect({ woken, hints }).toEqual({ woken: [[]], hints: [[]] });
});

test('a process without a sender gives hints of every lane', () => {
  const { hints, redis } = aProcess({ serves: [OWN] });
  createWakeSenders({ sender: null, redis })([OWN, OTHER]);
  expect(hints).toEqual([[OWN, OTHER]]);
});
