import { BlockList, isIP } from 'node:net';

/** Whether an address belongs to this installation (decision 165). */
export type IsForbiddenAddress = (address: string) => boolean;

/** Reads a list of IP addresses, separated by commas; null when one of them is none. */
export function parseForbiddenAddresses(text: string): IsForbiddenAddress | null {
  const addresses = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (!addresses.every((address) => isIP(address) !== 0)) return null;
  const list = new BlockList();
  for (const address of addresses) list.addAddress(address, familyOf(address));
  return (address) => list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
