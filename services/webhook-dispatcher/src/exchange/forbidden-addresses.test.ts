import { expect, test } from 'vitest';

import { parseForbiddenAddresses } from './forbidden-addresses.ts';

test('addresses of the installation are recognised in any spelling', () => {
  const isForbidden = parseForbiddenAddresses('8.8.4.4, 2606:4700::1111')!;
  expect(isForbidden('8.8.4.4')).toBe(true);
  expect(isForbidden('2606:4700:0:0:0:0:0:1111')).toBe(true);
  expect(isForbidden('8.8.8.8')).toBe(false);
  expect(isForbidden('2606:4700::1112')).toBe(false);
});

test('no list forbids nothing, and a name in it is refused', () => {
  expect(parseForbiddenAddresses('')!('8.8.4.4')).toBe(false);
  expect(parseForbiddenAddresses('api.example.com')).toBeNull();
});
