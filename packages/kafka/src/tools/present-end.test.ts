import { expect, test } from 'vitest';
import { describePresentEnd } from './present-end.ts';

const END = { partitions: 12, read: 40, shown: 0, key: null, untilNow: false };

test('a tail that goes on says that it waits, and how it ends', () => {
  expect(describePresentEnd(END)).toBe(
    'read to the end of 12 partitions, 40 messages; waiting for new ones, Ctrl-C ends',
  );
});

test('a tail of a key says how many it has found, also none', () => {
  expect(describePresentEnd({ ...END, key: 'k', untilNow: true })).toBe(
    'read to the end of 12 partitions, 40 messages, 0 of this key',
  );
});
