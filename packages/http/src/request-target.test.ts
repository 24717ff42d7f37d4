import fc from 'fast-check';
import { expect, test } from 'vitest';

import { makeDecodable } from './request-target.ts';

test.each([
  ['/v1/charges/1', '/v1/charges/1'],
  ['/v1/charges/%zz', '/v1/charges/%25zz'],
  ['/v1/charges/%', '/v1/charges/%25'],
  ['/v1/charges/%E0', '/v1/charges/%25E0'],
  ['/v1/charges/%C3%28', '/v1/charges/%25C3%2528'],
  ['/v1/charges/%00', '/v1/charges/%00'],
  ['/v1/charges/%2F%c3%a9', '/v1/charges/%2F%c3%a9'],
  ['/v1/charges/%ED%A0%80', '/v1/charges/%25ED%25A0%2580'],
  ['/v1/charges?limit=%zz', '/v1/charges?limit=%zz'],
  ['/v1/%zz?limit=%zz#%zz', '/v1/%25zz?limit=%zz#%zz'],
])('%s is read as %s', (sent, read) => {
  expect(makeDecodable(sent)).toBe(read);
});

test('every path can be decoded, and one that could be stays as it was', () => {
  const piece = fc.oneof(
    fc.constantFrom('%', '%4', '%41', '%e0', '%C3', '%a9', '/', 'z'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const path = `/${pieces.join('').replaceAll(/[?#]/g, '')}`;
      const read = makeDecodable(path);
      expect(() => decodeURIComponent(read)).not.toThrow();
      expect(makeDecodable(read)).toBe(read);
    }),
  );
});
