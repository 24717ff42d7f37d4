/** Names under which nobody but this machine is reached; IPv6 as a URL writes it. */
const LOOPBACK_NAME = /^((.+\.)?localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const LOOPBACK_ADDRESS = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Whether a URL with this host name reaches this machine alone, whatever DNS says. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK_NAME.test(hostname);
}

/** Whether a listener with this `HOST` is reached from this machine alone. */
export function isLoopbackAddress(listensOn: string): boolean {
  return LOOPBACK_ADDRESS.test(listensOn);
}
