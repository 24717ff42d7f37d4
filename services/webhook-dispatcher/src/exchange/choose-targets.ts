import { isIP } from 'node:net';

import type { AddressList } from '@pixmesh/kernel/address-list';
import { isPublicAddress } from '@pixmesh/kernel/ip-ranges';
import { checkPublicUrl } from '@pixmesh/kernel/public-url';

import { AttemptFailure } from './attempt-failure.ts';
import { type DevReceiver, findDevReceiver } from './dev-receivers.ts';
import type { DialTarget } from './dial-target.ts';
import type { ResolveName } from './resolve-name.ts';

export type TargetDeps = {
  resolveName: ResolveName;
  devReceivers: readonly DevReceiver[];
  /** Whether an address belongs to this installation (decision 165). */
  isForbiddenAddress: AddressList;
};

/** Checks the stored URL again, as every attempt must: it may be older than today's rules (rule 6). */
export function parseTargetUrl(text: string): URL {
  const checked = checkPublicUrl(text, 'send');
  if (checked.kind === 'ok') return checked.url;
  throw new AttemptFailure('url_refused', checked.reason);
}

/**
 * The addresses that this attempt may dial: the literal, or every address of one look-up, all of which must
 * be public, or the local address of a development receiver (decisions 163 to 168). Nothing
 * is looked up again before dialling, so a name that changes its answer gains nothing.
 */
export async function chooseTargets(deps: TargetDeps, url: URL): Promise<readonly DialTarget[]> {
  const local = findDevReceiver(deps.devReceivers, url.hostname);
  if (local !== null) return [local];
  const addresses = await addressesOf(deps, url.hostname);
  const refused = addresses.find((address) => !isAllowed(deps, address));
  if (refused !== undefined)
    throw new AttemptFailure('address_refused', `${refused} is not public`);
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  return addresses.map((address) => ({ address, port }));
}

async function addressesOf(deps: TargetDeps, hostname: string): Promise<readonly string[]> {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) return [literal];
  return [...new Set(await lookUp(deps.resolveName, hostname))];
}

async function lookUp(resolveName: ResolveName, hostname: string): Promise<readonly string[]> {
  try {
    return await resolveName(hostname);
  } catch (error) {
    const { code } = Object(error) as { code?: string };
    throw new AttemptFailure('dns_failed', code ?? 'unknown', { cause: error });
  }
}

function isAllowed(deps: TargetDeps, address: string): boolean {
  return isPublicAddress(address, 'send') && !deps.isForbiddenAddress(address);
}
