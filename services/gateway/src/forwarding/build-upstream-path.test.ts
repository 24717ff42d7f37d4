import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { buildUpstreamPath } from './build-upstream-path.ts';

const TEMPLATE = '/v1/charges/:id';

describe('the path that an owner sees', () => {
  test.each([
    {
      id: '0b9f2c1e-8a57-4f0e-9a35-6d2f9c4b7a10',
      path: '/v1/charges/0b9f2c1e-8a57-4f0e-9a35-6d2f9c4b7a10',
    },
    { id: 'a/b', path: '/v1/charges/a%2Fb' },
    { id: '../balance', path: '/v1/charges/..%2Fbalance' },
    { id: '..', path: '/v1/charges/%252E%252E' },
    { id: '.', path: '/v1/charges/%252E' },
    { id: '...', path: '/v1/charges/...' },
    { id: 'a?limit=1', path: '/v1/charges/a%3Flimit%3D1' },
    { id: 'a#b', path: '/v1/charges/a%23b' },
    { id: 'a b\r\n', path: '/v1/charges/a%20b%0D%0A' },
    { id: '%2e%2e', path: '/v1/charges/%252e%252e' },
    { id: 'ção', path: '/v1/charges/%C3%A7%C3%A3o' },
  ])('keeps $id within its segment', ({ id, path }) => {
    expect(buildUpstreamPath(TEMPLATE, { id }, TEMPLATE)).toBe(path);
  });

  test.each([
    { url: '/v1/balance', path: '/v1/balance' },
    { url: '/v1/balance?', path: '/v1/balance?' },
    { url: '/v1/balance?a=1&a=%2F..&b[]=c?d', path: '/v1/balance?a=1&a=%2F..&b[]=c?d' },
    { url: '/v1/balance?a=1#f?x', path: '/v1/balance?a=1' },
  ])('carries the query as it stood on the wire: $url', ({ url, path }) => {
    expect(buildUpstreamPath('/v1/balance', {}, url)).toBe(path);
  });

  test('is the route and one segment to every URL parser, whatever the id', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
        const url = new URL(buildUpstreamPath(TEMPLATE, { id }, ''), 'http://owner');
        expect(url.host).toBe('owner');
        expect(url.search + url.hash).toBe('');
        expect(url.pathname).toMatch(/^\/v1\/charges\/[^/]+$/);
      }),
    );
  });
});
