import { expect, test } from 'vitest';

import { readHeader } from './read-header.ts';

test.each([
  { sent: [], expected: { kind: 'missing' } },
  { sent: ['Host', 'x'], expected: { kind: 'missing' } },
  { sent: ['x-api-key', 'a'], expected: { kind: 'one', value: 'a' } },
  { sent: ['Host', 'x', 'X-API-Key', 'a'], expected: { kind: 'one', value: 'a' } },
  { sent: ['x-api-key', ''], expected: { kind: 'one', value: '' } },
  { sent: ['x-api-key', 'a, b'], expected: { kind: 'one', value: 'a, b' } },
  { sent: ['x-api-key', 'a', 'X-Api-Key', 'a'], expected: { kind: 'repeated' } },
  { sent: ['x-api-key', '', 'x-api-key', 'a'], expected: { kind: 'repeated' } },
  { sent: ['referer', 'x-api-key', 'accept', '*'], expected: { kind: 'missing' } },
])('a header is told by its name and count on the wire: $sent', ({ sent, expected }) => {
  expect(readHeader(sent, 'x-api-key')).toEqual(expected);
});
