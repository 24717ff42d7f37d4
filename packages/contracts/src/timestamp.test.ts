import { expect, test } from 'vitest';

import { Timestamp } from './timestamp.ts';

test('what a Date writes is a timestamp', () => {
  expect(Timestamp.parse(new Date(0).toISOString())).toBe('1970-01-01T00:00:00.000Z');
});

test.each([
  '2026-11-20T15:30:00Z',
  '2026-11-20T15:30:00.1Z',
  '2026-11-20T15:30:00.123456Z',
  '2026-11-20T15:30:00.123',
  '2026-11-20T12:30:00.123-03:00',
  '2026-02-30T15:30:00.123Z',
])('%s is not in the one form that leaves us', (text) => {
  expect(Timestamp.safeParse(text).success).toBe(false);
});
