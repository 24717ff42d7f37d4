import { shareOf } from '@pixmesh/testkit/long-runs';
import { expect, test } from 'vitest';

import { listLongParts } from './long-parts.ts';

test('each file with a larger count stands in one part, and each part has a name of its own', () => {
  const parts = listLongParts();
  const files = parts
    .filter(({ share }) => share.startsWith('1/'))
    .flatMap((part) => part.files)
    .filter((file) => !file.includes('/end/'));
  expect(files.length).toBeGreaterThan(40);
  expect(new Set(files).size).toBe(files.length);
  expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length);
});

test('a part that is too long for an hour is run in shares, which are the whole of it', () => {
  const shares = listLongParts().filter(({ name }) => name.startsWith('lives-'));
  expect(shares.map(({ share }) => share)).toEqual(['1/2', '2/2']);
  const rows = Array.from({ length: 7 }, (_, index) => index);
  const taken = shares.flatMap(({ share }) => shareOf(rows, share));
  expect(taken.toSorted()).toEqual(rows);
  expect(shareOf(rows)).toEqual(rows);
});
