import { describe, expect, it } from 'vitest';

import { planAnswer } from './behaviour.ts';

const plain = { status: 200, delayMs: 0, headers: {}, bodyBytes: 0, dripIntervalMs: null };

describe('the answer of the development receiver', () => {
  it.each([
    ['is 200 at once without a behaviour', {}, plain],
    ['has the status that was set', { status: 503 }, { ...plain, status: 503 }],
    ['waits', { delay_ms: 40 }, { ...plain, delayMs: 40 }],
    ['never comes', { hang: true, status: 500 }, { ...plain, status: null }],
    [
      'redirects',
      { redirect: 'http://a.example/' },
      { ...plain, status: 302, headers: { location: 'http://a.example/' } },
    ],
    [
      'redirects with its own status',
      { redirect: '/x', status: 307 },
      { ...plain, status: 307, headers: { location: '/x' } },
    ],
    ['is huge', { body_bytes: 5_000_000 }, { ...plain, bodyBytes: 5_000_000 }],
    ['drips', { drip: true }, { ...plain, bodyBytes: 1_024, dripIntervalMs: 1_000 }],
    ['drips as told', { drip: 5, body_bytes: 3 }, { ...plain, bodyBytes: 3, dripIntervalMs: 5 }],
    ['does not drip when told not to', { drip: false }, plain],
  ])('%s', (_, behaviour, planned) => {
    expect(planAnswer(behaviour)).toEqual(planned);
  });
});
