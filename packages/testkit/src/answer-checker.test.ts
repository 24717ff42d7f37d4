import { expect, test } from 'vitest';

import { createAnswerChecker, type ObservedAnswer } from './answer-checker.ts';
import { buildPublicDocument } from '@pixmesh/contracts/openapi/build-public-document';
import { CHARGE } from '@pixmesh/contracts/openapi/resource-examples';

const check = createAnswerChecker(buildPublicDocument());

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001',
};
const created: ObservedAnswer = {
  method: 'POST',
  path: '/v1/charges',
  status: 201,
  headers: HEADERS,
  body: CHARGE,
};
const refused = (status: number, code: string, more: object = {}): ObservedAnswer => ({
  ...created,
  status,
  body: { code, message: 'No.', details: [], ...more },
});

test('what the document announces is no violation, additions included', () => {
  expect(check(created)).toEqual([]);
  expect(check({ ...created, headers: { ...HEADERS, 'idempotent-replayed': 'true' } })).toEqual([]);
  expect(check({ ...created, body: { ...CHARGE, later: 1 } })).toEqual([]);
  expect(check(refused(422, 'ACQUIRER_REJECTED', { charge_id: CHARGE.id }))).toEqual([]);
  expect(check(refused(500, 'INTERNAL_ERROR'))).toEqual([]);
  const path = '/v1/webhooks/{id}';
  const removed = { ...created, method: 'DELETE', path, status: 204, body: null };
  expect(check(removed)).toEqual([]);
});

test.each<[string, ObservedAnswer, RegExp]>([
  ['a status that is not listed', { ...created, status: 202 }, /status 202 is not in the document/],
  [
    'a code of another route',
    refused(422, 'PAYOUTS_DISABLED'),
    /code PAYOUTS_DISABLED is not listed/,
  ],
  [
    'a code under another status',
    refused(400, 'ACQUIRER_REJECTED'),
    /code ACQUIRER_REJECTED is not listed/,
  ],
  ['a missing field', { ...created, body: { ...CHARGE, reference: undefined } }, /reference/],
  [
    'a wrong type',
    { ...created, body: { ...CHARGE, amount: '100' } },
    /body\/amount must be integer/,
  ],
  ['a status of nobody', { ...created, body: { ...CHARGE, status: 'lost' } }, /body\/status/],
  [
    'a broken id',
    { ...created, body: { ...CHARGE, id: '1' } },
    /body\/id must match format "uuid"/,
  ],
  [
    'a missing request id',
    { ...created, headers: { ...HEADERS, 'x-request-id': undefined } },
    /X-Request-Id is missing/,
  ],
  [
    'a header with another value',
    { ...created, headers: { ...HEADERS, 'idempotent-replayed': 'yes' } },
    /Idempotent-Replayed/,
  ],
  [
    'another media type',
    { ...created, headers: { ...HEADERS, 'content-type': 'text/html' } },
    /content-type is text\/html/,
  ],
  [
    'a body after 204',
    { ...created, method: 'DELETE', path: '/v1/webhooks/{id}', status: 204, body: {} },
    /where none is announced/,
  ],
  ['an answer of an unknown route', { ...created, path: '/v1/refunds' }, /is not in the document/],
  ['429 without Retry-After', refused(429, 'RATE_LIMITED'), /Retry-After is missing/],
])('%s is a violation', (_name, answer, violation) => {
  expect(check(answer).join('\n')).toMatch(violation);
});

test('without a route, only the answers of the router are right', () => {
  const unknown = { ...refused(404, 'NOT_FOUND'), path: null };
  expect(check(unknown)).toEqual([]);
  expect(check({ ...unknown, status: 200 })).toHaveLength(1);
  expect(
    check({ ...unknown, body: { code: 'CHARGE_NOT_FOUND', message: '', details: [] } }),
  ).toHaveLength(1);
  const wrongMethod = { ...refused(405, 'METHOD_NOT_ALLOWED'), method: 'PUT' };
  expect(check(wrongMethod)).toEqual([expect.stringContaining('Allow is missing')]);
  expect(check({ ...wrongMethod, headers: { ...HEADERS, allow: 'GET, POST' } })).toEqual([]);
});
