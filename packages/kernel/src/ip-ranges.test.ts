import { isIP } from 'node:net';

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { isPublicAddress } from './ip-ranges.ts';

/** The verdicts at write and at send. */
function classify(address: string): { write: boolean; send: boolean } {
  return { write: isPublicAddress(address, 'write'), send: isPublicAddress(address, 'send') };
}

const PUBLIC = { write: true, send: true };
const REFUSED = { write: false, send: false };

/** First and last address of each refused range, with the neighbours that are public. */
const IPV4_EDGES = [
  { inside: ['0.0.0.0', '0.255.255.255'], outside: ['1.0.0.0'] },
  { inside: ['10.0.0.0', '10.255.255.255'], outside: ['9.255.255.255', '11.0.0.0'] },
  { inside: ['100.64.0.0', '100.127.255.255'], outside: ['100.63.255.255', '100.128.0.0'] },
  { inside: ['127.0.0.0', '127.255.255.255'], outside: ['126.255.255.255', '128.0.0.0'] },
  { inside: ['168.63.129.16'], outside: ['168.63.129.15', '168.63.129.17'] },
  { inside: ['169.254.0.0', '169.254.255.255'], outside: ['169.253.255.255', '169.255.0.0'] },
  { inside: ['172.16.0.0', '172.31.255.255'], outside: ['172.15.255.255', '172.32.0.0'] },
  { inside: ['192.0.0.0', '192.0.0.255'], outside: ['191.255.255.255', '192.0.1.0'] },
  { inside: ['192.31.196.0', '192.31.196.255'], outside: ['192.31.195.255', '192.31.197.0'] },
  { inside: ['192.52.193.0', '192.52.193.255'], outside: ['192.52.192.255', '192.52.194.0'] },
  { inside: ['192.88.99.0', '192.88.99.255'], outside: ['192.88.98.255', '192.88.100.0'] },
  { inside: ['192.168.0.0', '192.168.255.255'], outside: ['192.167.255.255', '192.169.0.0'] },
  { inside: ['192.175.48.0', '192.175.48.255'], outside: ['192.175.47.255', '192.175.49.0'] },
  { inside: ['198.18.0.0', '198.19.255.255'], outside: ['198.17.255.255', '198.20.0.0'] },
  { inside: ['224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'], outside: [] },
];

const IPV6_EDGES = [
  { inside: ['1fff:ffff::', '4000::'], outside: ['2000::', '3ffe:ffff::'] },
  { inside: ['2001::', '2001:1ff:ffff::ffff'], outside: ['2000:ffff::', '2001:200::'] },
  { inside: ['2001:db8::', '2001:db8:ffff::'], outside: ['2001:db7:ffff::', '2001:db9::'] },
  { inside: ['2002::', '2002:ffff::'], outside: ['2001:ffff::', '2003::'] },
  {
    inside: ['2620:4f:8000::', '2620:4f:8000:ffff::'],
    outside: ['2620:4f:7fff::', '2620:4f:8001::'],
  },
  { inside: ['3fff::', '3fff:fff::'], outside: ['3fff:1000::'] },
];

describe('edges of the ranges', () => {
  test.each([...IPV4_EDGES, ...IPV6_EDGES])('$inside', ({ inside, outside }) => {
    expect(inside.map(classify)).toEqual(inside.map(() => REFUSED));
    expect(outside.map(classify)).toEqual(outside.map(() => PUBLIC));
  });

  test.each([
    '192.0.2.0',
    '192.0.2.255',
    '198.51.100.0',
    '198.51.100.255',
    '203.0.113.0',
    '203.0.113.255',
  ])('the documentation address %s passes at write and fails at send', (address) => {
    expect(isPublicAddress(address, 'write')).toBe(true);
    expect(isPublicAddress(address, 'send')).toBe(false);
  });
});

describe('spellings', () => {
  test.each([
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:1.1.1.1',
    '::FFFF:101:101',
    '::1.1.1.1',
    '::ffff:0:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '64:ff9b:1::1.1.1.1',
    '2002:101:101::1',
    '2001:0:101:101::1',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2606:4700:4700::1111%eth0',
  ])('%s is never public', (address) => {
    expect(classify(address)).toEqual(REFUSED);
  });

  test.each([
    '2606:4700:4700::1111',
    '2606:4700:4700:0:0:0:0:1111',
    '2606:4700:4700:0000:0000:0000:0000:1111',
    '2606:4700:4700::1.1.1.1',
    '2A00:1450:4001:80B::200E',
    '2606:4700::',
  ])('%s is public', (address) => {
    expect(classify(address)).toEqual(PUBLIC);
  });

  test.each([
    '',
    'localhost',
    '1.1.1',
    '01.1.1.1',
    '1.1.1.1 ',
    '[2606:4700::1]',
    '1.1.1.1/32',
    '2606:::1',
  ])('%j is no address, so it is not public', (text) => {
    expect(classify(text)).toEqual(REFUSED);
  });
});

describe('properties', () => {
  test('no address below a refused first byte is public', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.constantFrom(0, 10, 127, 224, 239, 240, 255), byte, byte, (a, b, c) => {
        expect(classify(`${a}.${b}.${c}.1`)).toEqual(REFUSED);
      }),
    );
  });

  test('an IPv6 address outside 2000::/3 is never public, whatever it embeds', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const first = Number.parseInt(address.startsWith('::') ? '0' : address, 16);
        fc.pre(first < 0x2000 || first > 0x3fff);
        expect(classify(address)).toEqual(REFUSED);
      }),
    );
  });

  test('what is public at send is public at write, and is an address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
        fc.pre(classify(text).send);
        expect(classify(text).write).toBe(true);
        expect(isIP(text)).not.toBe(0);
      }),
    );
  });
});
