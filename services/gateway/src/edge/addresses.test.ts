import { parseAddressList } from '@pixmesh/kernel/address-list';
import { expect, test } from 'vitest';

import { findClientAddress, networkOf, plainAddress } from './addresses.ts';

const PROXIES = '10.0.0.0/8, 192.0.2.7,2001:db8:1::/48';

function clientOf(peer: string | undefined, forwarded?: string): string | null {
  const isTrusted = parseAddressList(PROXIES);
  if (isTrusted === null) throw new Error('the list was refused');
  return findClientAddress(peer, forwarded, isTrusted);
}

test.each([
  ['a stranger is who holds the connection', '203.0.113.5', undefined, '203.0.113.5'],
  ['a stranger is not believed', '203.0.113.5', '198.51.100.1', '203.0.113.5'],
  ['a stranger is not believed, whomever it names', '203.0.113.5', '10.0.0.1', '203.0.113.5'],
  ['a proxy names its client', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  [
    'a proxy by IPv6 in the notation of a dual stack',
    '::ffff:10.1.2.3',
    '198.51.100.1',
    '198.51.100.1',
  ],
  ['what the client has written itself', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['proxies in a row', '10.1.2.3', '1.1.1.1,198.51.100.1,192.0.2.7,10.9.9.9', '198.51.100.1'],
  ['nothing but proxies', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
  ['a proxy that names none', '192.0.2.7', undefined, '192.0.2.7'],
  ['a proxy that names nothing readable', '192.0.2.7', '198.51.100.1, unknown', '192.0.2.7'],
  ['a proxy by IPv6', '2001:db8:1::9', '2001:db8:ffff::1', '2001:db8:ffff::1'],
  ['a neighbour of a proxy', '192.0.2.8', '198.51.100.1', '192.0.2.8'],
  ['a connection that has gone', undefined, '198.51.100.1', null],
])('the client of %s', (_what, peer, forwarded, expected) => {
  expect(clientOf(peer, forwarded)).toBe(expected);
});

test.each([
  ['203.0.113.5', '203.0.113.5'],
  ['2001:db8:a:b:1:2:3:4', '2001:db8:a:b'],
  ['2001:db8:a:b::1', '2001:db8:a:b'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
])('the caller behind %s counts as %s', (address, expected) => {
  expect(networkOf(address)).toBe(expected);
});

test.each([
  ['::ffff:203.0.113.5', '203.0.113.5'],
  ['fe80::1%eth0', 'fe80::1'],
  ['203.0.113.5:443', null],
  ['', null],
  [undefined, null],
])('%s is the address %s', (text, expected) => {
  expect(plainAddress(text)).toBe(expected);
});
