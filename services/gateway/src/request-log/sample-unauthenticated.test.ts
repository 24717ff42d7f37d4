import { expect, test } from 'vitest';

import {
  createUnauthenticatedSample,
  ROWS_MAX,
  ROWS_PER_SOURCE_MAX,
} from './sample-unauthenticated.ts';

const MINUTE_MS = 60_000;
const FLOOD = 10_000;

function storedOf(sample: (address: string | null) => boolean, address: string | null): number {
  return Array.from({ length: FLOOD }, () => sample(address)).filter(Boolean).length;
}

test('of one address so many requests are stored in a minute, and room is left for others', () => {
  const sample = createUnauthenticatedSample(() => 0);
  expect(storedOf(sample, '203.0.113.5')).toBe(ROWS_PER_SOURCE_MAX);
  expect(storedOf(sample, null)).toBe(ROWS_PER_SOURCE_MAX);
  expect(sample('203.0.113.6')).toBe(true);
});

test('of all addresses together so many requests are stored in a minute', () => {
  const sample = createUnauthenticatedSample(() => 0);
  const stored = Array.from({ length: FLOOD }, (_, index) =>
    sample(`10.0.${index >> 8}.${index & 255}`),
  );
  expect(stored.filter(Boolean)).toHaveLength(ROWS_MAX);
});

test('each minute begins anew', () => {
  let nowMs = 0;
  const sample = createUnauthenticatedSample(() => nowMs);
  storedOf(sample, 'a');
  nowMs = MINUTE_MS - 1;
  expect(sample('a')).toBe(false);
  nowMs = MINUTE_MS;
  expect(storedOf(sample, 'a')).toBe(ROWS_PER_SOURCE_MAX);
});
