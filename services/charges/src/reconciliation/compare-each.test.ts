import type { Lookup } from '@pixmesh/acquirer/acquirer';
import type { FoundBreak } from '@pixmesh/reconciliation/check';
import { expect, test } from 'vitest';

import { createCompareEach } from './compare-each.ts';

const AWAY = { kind: 'unknown', cause: 'timeout' } as const;
const FOUND = { kind: 'found', value: 'theirs' } as const;

/** The differences of items whose look-ups are answered so, where all that is found differs. */
async function compareAll(lookups: readonly Lookup<string>[]): Promise<FoundBreak[]> {
  const items = lookups.map((lookup, index) => ({ id: `${index}`, lookup }));
  return await createCompareEach(new AbortController().signal)(
    items,
    ({ lookup }) => Promise.resolve(lookup),
    ({ id }) => [{ kind: 'state', id }],
  );
}

test('an item without an answer is one difference, and the others are compared', async () => {
  expect(await compareAll([AWAY, FOUND])).toEqual([
    { kind: 'unavailable', id: '0', found: 'timeout' },
    { kind: 'state', id: '1' },
  ]);
});

test('twenty in succession without an answer, or a hundred in all, fail the check', async () => {
  const some = Array.from({ length: 19 }, () => AWAY);
  expect(await compareAll([...some, FOUND, ...some])).toHaveLength(39);
  await expect(compareAll([...some, AWAY])).rejects.toThrow('look-up unknown: timeout');
  const everySecond = Array.from({ length: 99 }, () => [FOUND, AWAY]).flat();
  expect(await compareAll(everySecond)).toHaveLength(198);
  await expect(compareAll([...everySecond, AWAY])).rejects.toThrow('look-up unknown: timeout');
});
