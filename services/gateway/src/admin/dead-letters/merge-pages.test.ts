import { expect, test } from 'vitest';

import { mergePages } from './merge-pages.ts';

function page(service: string, ids: string[], hasMore = false) {
  return { letters: ids.map((id) => ({ id, service })), hasMore };
}

test('pages of several services become one, newest first', () => {
  const merged = mergePages([page('charges', ['5', '2']), page('ledger', ['4', '1'])], 10);
  expect(merged).toEqual({
    object: 'list',
    data: [
      { id: '5', service: 'charges' },
      { id: '4', service: 'ledger' },
      { id: '2', service: 'charges' },
      { id: '1', service: 'ledger' },
    ],
    has_more: false,
  });
});

test('there are more when a service says so, or when the joined page is too long', () => {
  expect(mergePages([page('charges', ['5'], true), page('ledger', [])], 10)).toMatchObject({
    has_more: true,
  });
  expect(mergePages([page('charges', ['5']), page('ledger', ['4'])], 1)).toEqual({
    object: 'list',
    data: [{ id: '5', service: 'charges' }],
    has_more: true,
  });
});
