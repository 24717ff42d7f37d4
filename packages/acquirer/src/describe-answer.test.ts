import { expect, test } from 'vitest';

import { describeAnswer, toAnswerWord } from './describe-answer.ts';

test.each(['found', 'not_found'])('an acquirer that says %s is reachable', (word) => {
  expect(describeAnswer(word)).toEqual({ reachable: true, answer: word, error: null });
});

test.each([
  'connection',
  'timeout',
  'aborted',
  'token_timeout',
  'breaker_open:status_503',
  'no_turn:late',
])('an acquirer from which nothing came is not: %s', (error) => {
  expect(describeAnswer(error)).toEqual({ reachable: false, answer: 'none', error });
});

test.each(['status_503', 'unreadable', 'token_status_401', 'oversize'])(
  'an answer that proves nothing is an answer: %s',
  (error) => {
    expect(describeAnswer(error)).toEqual({ reachable: true, answer: 'none', error });
  },
);

test('what is stored of a look-up is its kind, or why there is no answer', () => {
  expect(toAnswerWord({ kind: 'found', value: {} })).toBe('found');
  expect(toAnswerWord({ kind: 'not_found' })).toBe('not_found');
  expect(toAnswerWord({ kind: 'unknown', cause: 'timeout' })).toBe('timeout');
});
