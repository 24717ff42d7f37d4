import { BlockList, isIP } from 'node:net';

/** Whether an address is in the list. */
export type AddressList = (address: string) => boolean;

/** For the message of a setting that holds such a list. */
export const ADDRESS_LIST_EXPECTED =
  'expected IP addresses or networks such as 10.0.0.0/8, separated by commas';

const ADDRESS_BITS = { ipv4: 32, ipv6: 128 } as const;

/** Reads addresses and networks (`10.0.0.0/8`), separated by commas; null when one of them is none. */
export function parseAddressList(text: string): AddressList | null {
  const list = new BlockList();
  const entries = text.split(',').map((entry) => entry.trim());
  for (const entry of entries.filter((one) => one !== '')) {
    const [network = '', bits, ...rest] = entry.split('/');
    const family = familyOf(network);
    if (family === null || rest.length > 0) return null;
    const prefix = bits === undefined ? ADDRESS_BITS[family] : readPrefix(bits, family);
    if (prefix === null) return null;
    list.addSubnet(network, prefix, family);
  }
  return (address) => {
    const family = familyOf(address);
    return family !== null && list.check(address, family);
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address);
  if (version === 0) return null;
  return version === 4 ? 'ipv4' : 'ipv6';
}

/** Zero bits would be everybody. */
function readPrefix(bits: string, family: 'ipv4' | 'ipv6'): number | null {
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : 0;
  return prefix >= 1 && prefix <= ADDRESS_BITS[family] ? prefix : null;
}
