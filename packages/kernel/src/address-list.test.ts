import { expect, test } from 'vitest';

import { parseAddressList } from './address-list.ts';

test.each([
  ['8.8.4.4', true],
  ['8.8.4.5', false],
  ['203.0.113.9', true],
  ['203.0.114.1', false],
  ['2606:4700:0:0:0:0:0:1111', true],
  ['2606:4700::1112', false],
  ['2001:db8:1:2::3', true],
  ['2001:db8:2::3', false],
  ['api.example.com', false],
])('addresses and networks are recognised in any spelling: %s', (address, isListed) => {
  const list = parseAddressList('8.8.4.4, 203.0.113.0/24,2606:4700::1111,2001:db8:1::/48');
  expect(list?.(address)).toBe(isListed);
});

test.each(['10.0.0.0/33', '10.0.0.0/0', '::/0', 'proxy', '10.0.0.1/', '10.0.0.0/8/8', '1.2.3'])(
  'a list with %s is refused',
  (entry) => {
    expect(parseAddressList(`192.0.2.1,${entry}`)).toBeNull();
  },
);

test('an empty list has no address', () => {
  expect(parseAddressList('')?.('127.0.0.1')).toBe(false);
});
