import { isIP } from 'node:net';

/** Whether what stands at an address is a proxy of ours, whose `X-Forwarded-For` is believed. */
export type IsTrustedProxy = (address: string) => boolean;

const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i;
const IPV6_GROUPS = 8;
/** A provider gives each customer at least a /64, within which addresses cost nothing. */
const NETWORK_GROUPS = 4;

/**
 * Whom a request is from: who holds the connection, or, where that is a trusted proxy, the last address in
 * `X-Forwarded-For` that is none. What stands further left may be anybody’s word.
 */
export function findClientAddress(
  peer: string | undefined,
  forwarded: string | undefined,
  isTrusted: IsTrustedProxy,
): string | null {
  let address = plainAddress(peer);
  const hops = (forwarded ?? '').split(',').map((hop) => plainAddress(hop.trim()));
  while (address !== null && isTrusted(address)) {
    const next = hops.pop() ?? null;
    if (next === null) break;
    address = next;
  }
  return address;
}

/** What counts as one caller among connections: an IPv4 address, or an IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: IPV6_GROUPS - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS).join(':');
}

/** Without the IPv6 notation of an IPv4 address, and without the name of an interface; null for what is none. */
export function plainAddress(text: string | undefined): string | null {
  const address = (text ?? '').replace(MAPPED_IPV4, '').replace(/%.*$/, '');
  return isIP(address) === 0 ? null : address;
}
