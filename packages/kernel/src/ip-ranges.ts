import { isIP } from 'node:net';

/** When an address is checked: as a merchant registers a URL, or at every attempt to deliver to it. */
export type CheckTime = 'write' | 'send';

/** The bits that all addresses of a range share, and how many follow them. */
type Range = { base: bigint; shift: bigint };

/** IPv4 that is not public (decision 168, RFC 6890). 168.63.129.16 is a cloud platform's own address. */
const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(parseIPv4Range);

/** Documentation addresses are harmless to store and popular in tests (decision 169). */
const REFUSED_IPV4_AT_SEND = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'].map(
  parseIPv4Range,
);

/**
 * Global unicast is the only IPv6 that may be public. Mapped, compatible, translated and NAT64 forms
 * lie outside it; Teredo (2001::/23) and 6to4 (2002::/16) inside, so they are carved out (decision 170).
 */
const GLOBAL_IPV6 = parseIPv6Range('2000::/3');
const REFUSED_IPV6 = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
].map(parseIPv6Range);

/**
 * Whether an IP literal, in any form that `net.isIP` knows and without brackets, may be dialled.
 * Anything else is not public, a zone id included. At `send` documentation ranges are refused too
 * (decisions 163 to 171).
 */
export function isPublicAddress(address: string, at: CheckTime): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  const bits = family === 4 ? parseIPv4(address) : parseIPv6(address);
  const isWithin = ({ base, shift }: Range): boolean => bits >> shift === base;
  if (family === 6) return isWithin(GLOBAL_IPV6) && !REFUSED_IPV6.some(isWithin);
  return !REFUSED_IPV4.some(isWithin) && !(at === 'send' && REFUSED_IPV4_AT_SEND.some(isWithin));
}

function parseIPv4Range(cidr: string): Range {
  const [address = '', prefix = ''] = cidr.split('/');
  const shift = 32n - BigInt(prefix);
  return { base: parseIPv4(address) >> shift, shift };
}

function parseIPv6Range(cidr: string): Range {
  const [address = '', prefix = ''] = cidr.split('/');
  const shift = 128n - BigInt(prefix);
  return { base: parseIPv6(address) >> shift, shift };
}

/** Expects four decimal parts, as `net.isIP` has checked. */
function parseIPv4(text: string): bigint {
  return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

/** Expects a valid address: `::` at most once stands for as many zero groups as are missing. */
function parseIPv6(text: string): bigint {
  const [head = '', tail = ''] = text.split('::');
  const first = parseGroups(head);
  const last = parseGroups(tail);
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0n);
  return [...first, ...zeros, ...last].reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** Groups of 16 bits; a dotted quad at the end stands for two of them. */
function parseGroups(text: string): bigint[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const quad = parseIPv4(group);
    return [quad >> 16n, quad & 0xffffn];
  });
}
