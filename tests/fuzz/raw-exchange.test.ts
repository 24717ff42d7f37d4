import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readAnswers } from './raw-exchange.ts';
import { brokenRequests } from './raw-requests.ts';

test('answers are told apart by their lengths, and what is none is left over', () => {
  const first = 'HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nX-A: b: c\r\n\r\n{}';
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const second = 'HTTP/1.1 204 No Content\r\n\r\n';
  expect(readAnswers(first + interim + second)).toEqual({
    answers: [
      { status: 404, headers: { 'content-length': '2', 'x-a': 'b: c' }, text: '{}' },
      { status: 204, headers: {}, text: '' },
    ],
    rest: '',
  });
  expect(readAnswers('')).toEqual({ answers: [], rest: '' });
  expect(readAnswers(`${second}<html>`).rest).toBe('<html>');
});

test('broken requests differ from the sound one and can be made again from their seed', () => {
  const sound = 'GET /v1/account HTTP/1.1\r\nHost: a\r\n\r\n';
  const draw = (seed: number) =>
    fc.sample(brokenRequests([sound]), { seed, numRuns: 200 }).map(String);
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(new Set(draw(1)).size).toBeGreaterThan(150);
});
