import { BlockList, isIP } from 'node:net';

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import vectors from '../vectors/ssrf.json' with { type: 'json' };
import { checkPublicUrl } from './public-url.ts';
import { aHostileUrl } from './testing/hostile-urls.ts';

const GENERATED_URLS = 100_000;

/** Rows about names at send are decided by DNS and by the receiver, which this function never asks. */
function isDecidedByText(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return isIP(host) !== 0 || host === 'localhost';
}

describe('vectors at write', () => {
  const rows = vectors.filter(({ at }) => at === 'write');

  test.each(rows)('$id $expect: $why', ({ url, expect: expected, parsed_host: parsedHost }) => {
    const accepted = { kind: 'ok', url: { hostname: parsedHost } };
    expect(checkPublicUrl(url, 'write')).toMatchObject(
      expected === 'accept' ? accepted : { kind: 'refused' },
    );
  });
});

describe('vectors at send', () => {
  const [literals, names] = [
    vectors.filter(({ at, url }) => at === 'send' && isDecidedByText(url)),
    vectors.filter(({ at, url }) => at === 'send' && !isDecidedByText(url)),
  ];

  test.each(literals)('$id $expect: $why', ({ url, expect: expected }) => {
    expect(checkPublicUrl(url, 'send').kind).toBe(expected === 'accept' ? 'ok' : 'refused');
  });

  test.each(names)('$id is left to the look-up: $why', ({ url }) => {
    expect(checkPublicUrl(url, 'send').kind).toBe('ok');
  });
});

describe('reasons', () => {
  test.each([
    [`https://example.com/${'a'.repeat(2029)}`, 'too_long'],
    ['https://example.com/\t', 'bad_character'],
    ['https://example.com/\uD83D', 'bad_character'],
    ['ftp://example.com/', 'bad_form'],
    ['https:///example.com/', 'bad_form'],
    ['https://exa<mple.com/', 'unparsable'],
    ['https://user@example.com/', 'credentials'],
    ['https://example.com:00/', 'bad_port'],
    ['https://printer.local/', 'not_public_name'],
    ['https://[::1]/', 'not_public_address'],
  ])('%j is refused as %s', (text, reason) => {
    expect(checkPublicUrl(text, 'write')).toEqual({ kind: 'refused', reason });
  });

  test('2048 code points pass, also when they are emoji', () => {
    expect(checkPublicUrl(`https://example.com/${'🙂'.repeat(2028)}`, 'write').kind).toBe('ok');
  });
});

describe('generated URLs', () => {
  test('none throws, and what passes never dials a private literal or a local name', () => {
    const privateIPv4 = aPrivateIPv4List();
    let accepted = 0;
    fc.assert(
      fc.property(aHostileUrl(), fc.constantFrom('write', 'send'), (text, at) => {
        const result = checkPublicUrl(text, at);
        if (result.kind === 'refused') return true;
        accepted += 1;
        const host = result.url.hostname;
        if (host.startsWith('[')) return /^\[(?:2[0-9a-f]|3[0-9a-f])[0-9a-f]{2}:/.test(host);
        if (isIP(host) === 4) return !privateIPv4.check(host, 'ipv4');
        return !/(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/.test(host);
      }),
      { numRuns: GENERATED_URLS },
    );
    expect(accepted).toBeGreaterThan(GENERATED_URLS / 20);
  }, 30_000);
});

/** A second opinion on private addresses: Node's own list instead of ours. */
function aPrivateIPv4List(): BlockList {
  const list = new BlockList();
  list.addSubnet('0.0.0.0', 8);
  list.addSubnet('10.0.0.0', 8);
  list.addSubnet('100.64.0.0', 10);
  list.addSubnet('127.0.0.0', 8);
  list.addSubnet('169.254.0.0', 16);
  list.addSubnet('172.16.0.0', 12);
  list.addSubnet('192.168.0.0', 16);
  list.addSubnet('224.0.0.0', 3);
  return list;
}
