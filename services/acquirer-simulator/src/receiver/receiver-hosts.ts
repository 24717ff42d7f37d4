import { isLoopbackAddress, isLoopbackName } from '#control/loopback-names.ts';

/** What development stacks map to the receiver. */
const MAPPED_NAME = /^(.+\.)receiver\.example\.com\.?$/;

/**
 * Whom a request means by its `Host`: the receiver itself, with its own calls, a merchant's name that is mapped to it,
 * whose requests are recorded whatever their path, or somebody else. To a browser, a page whose name was pointed at
 * this machine is of the same origin (DNS rebinding) and could read what was received. Where other machines reach the
 * listener, their names for it are not known and each is taken.
 */
export function receiverMeant(
  host: string | undefined,
  listensOn: string,
): 'itself' | 'merchant' | 'none' {
  // No browser leaves the header out.
  if (host === undefined) return 'itself';
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  if (MAPPED_NAME.test(name)) return 'merchant';
  return isLoopbackName(name) || !isLoopbackAddress(listensOn) ? 'itself' : 'none';
}
