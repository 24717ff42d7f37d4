import { describe, expect, test } from 'vitest';

import { toForwardable } from './forwardable-answer.ts';

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

function anAnswer(changes: { status?: number; headers?: Record<string, string>; body?: string }) {
  return {
    status: changes.status ?? 200,
    headers: changes.headers ?? JSON_HEADERS,
    body: Buffer.from(changes.body ?? '{"object":"charge"}'),
  };
}

describe('the answer of an owner', () => {
  test.each([200, 201, 400, 404, 409, 413, 422, 500])('goes on with status %i', (status) => {
    expect(toForwardable(anAnswer({ status }))?.status).toBe(status);
  });

  test('goes on without a body where there is to be none', () => {
    const answer = toForwardable(anAnswer({ status: 204, headers: {}, body: '' }));
    expect(answer).toMatchObject({ status: 204 });
  });

  test.each([
    { name: 'claims refused', changes: { status: 401 } },
    { name: 'gateway refused', changes: { status: 403 } },
    { name: 'bad gateway', changes: { status: 502 } },
    { name: 'unavailable', changes: { status: 503 } },
    { name: 'gateway timeout', changes: { status: 504 } },
    { name: 'redirect', changes: { status: 302 } },
    { name: 'no status of ours', changes: { status: 599 } },
    { name: 'page of a proxy', changes: { headers: { 'content-type': 'text/html' }, body: '<p>' } },
    { name: 'no media type', changes: { headers: {} } },
    { name: 'empty body', changes: { body: '' } },
    { name: 'cut body', changes: { body: '{"object":"cha' } },
    { name: 'no object', changes: { body: '[1]' } },
    { name: 'body where none belongs', changes: { status: 204 } },
  ])('cannot be passed on: $name', ({ changes }) => {
    expect(toForwardable(anAnswer(changes))).toBeNull();
  });

  test('says whether it is a replay, and of another body', () => {
    const headers = {
      ...JSON_HEADERS,
      'idempotent-replayed': 'true',
      'idempotency-mismatch': 'true',
    };
    expect(toForwardable(anAnswer({ headers }))).toMatchObject({ replayed: true, mismatch: true });
    expect(toForwardable(anAnswer({}))).toMatchObject({ replayed: false, mismatch: false });
  });
});
