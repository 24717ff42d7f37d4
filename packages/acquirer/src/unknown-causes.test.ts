import { expect, test } from 'vitest';

import { wasNeverSent, withBreakerOpen, withoutToken, withoutTurn } from './unknown-causes.ts';

test('what the breaker kept back, or what had no token or no turn, was never sent', () => {
  expect(wasNeverSent(withBreakerOpen('timeout'))).toBe(true);
  expect(wasNeverSent(withoutToken('timeout'))).toBe(true);
  expect(wasNeverSent(withoutTurn('late'))).toBe(true);
});

test.each(['timeout', 'aborted', 'connection', 'unreadable', 'duplicate', 'status_401', ''])(
  'after %j nobody knows',
  (cause) => {
    expect(wasNeverSent({ kind: 'unknown', cause })).toBe(false);
  },
);

test.each(['accepted', 'refused', 'not_found'])('what is %s was sent', (kind) => {
  expect(wasNeverSent({ kind })).toBe(false);
});
