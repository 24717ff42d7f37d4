import { expect, test } from 'vitest';

import { eventsInTurn } from './events-in-turn.ts';

test('events of several accounts go in turn, those of one in their order', () => {
  const events = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map((id) => ({ id, accountId: id[0]! }));
  const ids = eventsInTurn(events).map(({ id }) => id);
  expect(ids).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(eventsInTurn([])).toEqual([]);
});
