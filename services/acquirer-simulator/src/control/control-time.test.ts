import { describe, expect, test } from 'vitest';

import { ControlTime } from './control-time.ts';

describe('a time of the control API', () => {
  test.each([
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['2026-11-21T12:00:00.089-03:00', '2026-11-21T15:00:00.089Z'],
    ['9998-12-31T00:00:00Z', '9998-12-31T00:00:00.000Z'],
  ])('is taken: %s', (text, iso) => {
    expect(ControlTime.parse(text).toISOString()).toBe(iso);
  });

  test.each([
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '1969-12-31T23:59:59Z',
    '9998-12-31T00:00:01Z',
    '9999-12-31T23:59:59-01:00',
    '2026-02-30T00:00:00Z',
    '2026-11-21',
    '2026-11-21T12:00:00',
    'yesterday',
    1_800_000_000,
  ])('is refused: %s', (text) => {
    expect(ControlTime.safeParse(text).success).toBe(false);
  });
});
