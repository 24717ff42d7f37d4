import { anyFree, fourTimesFree } from '@pixmesh/fair-share/share-of-places';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createJobPlaces } from './job-places.ts';

const SIZE = 40;

test('no account has more places than it may, whatever rows the statements answer', async () => {
  const steps = fc.array(
    fc.record({ account: fc.constantFrom('a', 'b', 'c'), ends: fc.boolean() }),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const places = createJobPlaces(SIZE, fourTimesFree);
      const held: string[] = [];
      for (const { account, ends } of all) {
        const ended = ends ? held.pop() : undefined;
        if (ended !== undefined) places.end(ended);
        const except = places.withoutRoom();
        const room = places.room(except);
        if (except.includes(account)) continue;
        await places.keepDuring(room, () => {
          expect(places.room([])).toBeLessThanOrEqual(SIZE - held.length - room);
          return Promise.resolve();
        });
        for (let row = 0; row < room; row += 1) {
          const own = held.filter((owner) => owner === account).length;
          expect(fourTimesFree(own, SIZE - held.length)).toBe(true);
          places.begin(account);
          held.push(account);
        }
      }
    }),
  );
});

test('an account that is alone gets its part at once, and one beside it gets all that it may', () => {
  const places = createJobPlaces(SIZE, fourTimesFree);
  expect(places.room([])).toBe(32);
  for (let row = 0; row < 32; row += 1) places.begin('a');
  expect(places.withoutRoom()).toEqual(['a']);
  expect(places.room([])).toBe(0);
  expect(places.room(['a'])).toBe(7);
});

test('where none is left for others, all may be taken', () => {
  const places = createJobPlaces(SIZE, anyFree);
  for (let row = 0; row < 39; row += 1) places.begin('a');
  expect([places.room([]), places.withoutRoom()]).toEqual([1, []]);
});
