import { BODY_BYTES_MAX } from '@pixmesh/http/service-app';
import { sendRaw } from '@pixmesh/http/testing/raw-request';
import { describe, expect, test } from 'vitest';

import {
  NOT_FOUND,
  OWNERS_404,
  type RawCase,
  UNAUTHORIZED,
  unread,
  useRawEdge,
  UUID,
} from '#test/raw-edge.ts';

const edge = useRawEdge();

describe('paths', () => {
  test.each<RawCase>([
    { name: 'trailing slash', target: '/v1/charges/', ...NOT_FOUND },
    { name: 'trailing slash of another resource', target: '/v1/payouts/', ...NOT_FOUND },
    { name: 'trailing slash after an id', target: `/v1/charges/${UUID}/`, ...NOT_FOUND },
    { name: 'trailing slash without a key', as: 'anonymous', target: '/v1/payouts/', ...NOT_FOUND },
    { name: 'trailing slash, other method', method: 'PUT', target: '/v1/payouts/', ...NOT_FOUND },
    { name: 'another case', target: '/V1/charges', ...NOT_FOUND },
    { name: 'another case of a resource', target: '/v1/Charges', ...NOT_FOUND },
    { name: 'two slashes at the start', target: '//v1/charges', ...NOT_FOUND },
    { name: 'two slashes inside', target: '/v1//charges', ...NOT_FOUND },
    { name: 'two slashes before an id', target: `/v1/charges//${UUID}`, ...NOT_FOUND },
    { name: 'dots that leave the version', target: '/v1/../v1/charges', ...NOT_FOUND },
    { name: 'the prefix alone', target: '/v1', ...NOT_FOUND },
    { name: 'the root', target: '/', ...NOT_FOUND },
    { name: 'a parameter after a semicolon', target: '/v1/charges;a=1', ...NOT_FOUND },
    { name: 'an ill-formed escape outside an id', target: '/v1/%zz', ...NOT_FOUND },
    { name: 'an escape of no UTF-8 outside an id', target: '/%E0/charges', ...NOT_FOUND },
    // Decision 14: an ill-formed id is an unknown one, in every way in which it can be ill-formed.
    { name: 'no UUID', target: '/v1/charges/1', ...OWNERS_404, reaches: '/v1/charges/1' },
    { name: 'no escape', target: '/v1/charges/%zz', ...OWNERS_404, reaches: '/v1/charges/%25zz' },
    { name: 'half an escape', target: '/v1/charges/%', ...OWNERS_404, reaches: '/v1/charges/%25' },
    {
      name: 'an escape of no UTF-8',
      target: '/v1/charges/%E0',
      ...OWNERS_404,
      reaches: '/v1/charges/%25E0',
    },
    {
      name: 'a surrogate',
      target: '/v1/payouts/%ED%A0%80',
      ...OWNERS_404,
      reaches: '/v1/payouts/%25ED%25A0%2580',
    },
    { name: 'NUL', target: '/v1/payouts/%00', ...OWNERS_404, reaches: '/v1/payouts/%00' },
    { name: 'dots', target: '/v1/payouts/..', ...OWNERS_404, reaches: '/v1/payouts/%252E%252E' },
    {
      name: 'escaped dots',
      target: '/v1/payouts/%2e%2e',
      ...OWNERS_404,
      reaches: '/v1/payouts/%252E%252E',
    },
    {
      name: 'an escaped slash',
      target: '/v1/charges/a%2Fb',
      ...OWNERS_404,
      reaches: '/v1/charges/a%2Fb',
    },
    {
      name: 'very long',
      target: `/v1/charges/${'x'.repeat(6_000)}`,
      ...OWNERS_404,
      reaches: `/v1/charges/${'x'.repeat(6_000)}`,
    },
    {
      name: 'very long, and three times as long for its owner',
      target: `/v1/charges/${'"'.repeat(7_900)}`,
      ...OWNERS_404,
      reaches: `/v1/charges/${'%22'.repeat(7_900)}`,
    },
    {
      name: 'very long, of dots',
      target: `/v1/charges/${'.'.repeat(7_900)}`,
      ...OWNERS_404,
      reaches: `/v1/charges/${'.'.repeat(7_900)}`,
    },
    {
      name: 'no escape, of a webhook',
      method: 'DELETE',
      target: '/v1/webhooks/%zz',
      ...OWNERS_404,
      reaches: '/v1/webhooks/%25zz',
    },
    {
      name: 'ill-formed, without a key',
      as: 'anonymous',
      target: '/v1/charges/%zz',
      ...UNAUTHORIZED,
    },
    {
      name: 'ill-formed, without the scope',
      as: 'reader',
      target: '/v1/payouts/%zz',
      status: 403,
      code: 'INSUFFICIENT_SCOPE',
      details: ['payout:read'],
    },
    {
      name: 'longer than all headers may be',
      target: `/v1/charges/${'x'.repeat(9_000)}`,
      ...unread('headers'),
    },
    { name: 'absolute form', target: 'http://a/v1/charges', ...unread('request-target') },
    { name: 'asterisk', method: 'OPTIONS', target: '*', ...unread('request-target') },
    { name: 'a space', target: '/v1/charges /1', ...unread('headers') },
  ])('$name', edge.expectAnswer);
});

describe('queries go to their owner as they were sent', () => {
  test.each<RawCase>(
    [
      '?limit=1&limit=2',
      '?limit[]=1',
      '?limit%5B%5D=1',
      '?limit=%zz',
      '?limit=%E0',
      '?limit=%00',
      '?__proto__=1&constructor=1',
      '?',
    ].map((query) => ({
      name: query,
      target: `/v1/charges${query}`,
      ...OWNERS_404,
      reaches: `/v1/charges${query}`,
    })),
  )('$name', edge.expectAnswer);
});

describe('methods', () => {
  const other = { status: 405, code: 'METHOD_NOT_ALLOWED' } as const;
  test.each<RawCase>([
    ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'PURGE'].flatMap(
      (method): RawCase[] => [
        { name: `${method} of a known path`, method, ...other, allow: 'post, get' },
        { name: `${method} without a key`, method, as: 'anonymous', ...other, allow: 'post, get' },
        { name: `${method} of an unknown path`, method, target: '/v1/nothing', ...NOT_FOUND },
      ],
    ),
    {
      name: 'HEAD of a known path',
      method: 'HEAD',
      status: 405,
      allow: 'post, get',
      headers: ['Connection: close'],
      closes: true,
    },
    {
      name: 'POST of one resource',
      method: 'POST',
      target: `/v1/charges/${UUID}`,
      ...other,
      allow: 'get',
    },
    {
      name: 'GET of a webhook',
      target: `/v1/webhooks/${UUID}`,
      ...other,
      allow: 'patch, delete',
    },
    {
      name: 'another method with a body that nobody reads',
      method: 'QUERY',
      headers: ['Content-Type: nonsense', 'Content-Encoding: gzip', 'Content-Length: 3'],
      body: 'xyz',
      ...other,
      allow: 'post, get',
    },
    {
      name: 'another method with a body that is too large',
      method: 'PUT',
      headers: [`Content-Length: ${BODY_BYTES_MAX + 1}`],
      ...other,
      allow: 'post, get',
    },
    { name: 'a method that HTTP does not know', method: 'FROB', ...unread('method') },
    { name: 'a method in lower case', method: 'get', ...unread('method') },
  ])('$name', edge.expectAnswer);

  test('CONNECT closes the connection without an answer: it has no answer that is not a tunnel', async () => {
    const answer = await sendRaw(edge.port(), 'CONNECT /v1/charges HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(answer).toMatchObject({ closed: true, head: '' });
  });
});
