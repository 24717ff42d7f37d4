import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { BREAKS_THAT_STOP, stopsPayouts, TOO_MANY } from './account-breaks.ts';

const GUIDE = new URL('../../../../docs/guides/stop-payouts.md', import.meta.url);

/** The first two columns of the guide's table: a check, and its kinds. */
function readGuide(): Record<string, string[]> {
  const rows = readFileSync(GUIDE, 'utf8').matchAll(/^\| `(\w+)` \| (`[^|]+`) \|/gm);
  return Object.fromEntries(
    [...rows].map(([, check = '', kinds = '']) => [check, kinds.replaceAll('`', '').split(', ')]),
  );
}

test('the guide names each break that stops payouts, and no other', () => {
  expect(readGuide()).toEqual(BREAKS_THAT_STOP);
});

test('a break stops payouts by its check and its kind together', () => {
  expect(stopsPayouts({ check: 'received', kind: 'missing_left' })).toBe(true);
  expect(stopsPayouts({ check: 'received', kind: 'unbooked' })).toBe(false);
  expect(stopsPayouts({ check: 'delivery', kind: 'missing_left' })).toBe(false);
  expect(stopsPayouts({ check: 'received', kind: TOO_MANY })).toBe(true);
});
