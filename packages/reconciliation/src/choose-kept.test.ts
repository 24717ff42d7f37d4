import { expect, test } from 'vitest';

import type { FoundBreak } from './check.ts';
import { BREAKS_MAX, chooseKept } from './choose-kept.ts';

const YOUNG_FROM = new Date('2026-11-26T12:00:00.000Z');
const YOUNG = new Date('2026-11-26T12:00:00.000Z');

test('all are kept where they are few', () => {
  const breaks = many(BREAKS_MAX, { changedAt: YOUNG });
  expect(chooseKept(breaks, YOUNG_FROM)).toEqual({ kept: breaks, left: 'nothing' });
});

test('those that stop payouts come first, then differences, items without an answer, and what is young', () => {
  const young = many(2, { changedAt: YOUNG });
  const unread = many(2, { kind: 'unavailable' });
  const stopping = many(2, { accountId: 'a', changedAt: YOUNG });
  const others = many(BREAKS_MAX - 3, { changedAt: new Date(0) });
  const found = [...young, ...unread, ...others, ...stopping];
  expect(chooseKept(found, YOUNG_FROM)).toEqual({
    kept: [...stopping, ...others, unread[0]],
    left: 'old',
  });
});

test('where only what is young is left out, that is said', () => {
  const found = [...many(BREAKS_MAX, { changedAt: YOUNG }), ...many(1, {})];
  const { kept, left } = chooseKept(found, YOUNG_FROM);
  expect([kept[0], kept.length, left]).toEqual([found.at(-1), BREAKS_MAX, 'young']);
});

let next = 0;

function many(count: number, changes: Partial<FoundBreak>): FoundBreak[] {
  return Array.from({ length: count }, () => ({ kind: 'state', id: `${next++}`, ...changes }));
}
