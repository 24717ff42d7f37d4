import { uuidV5 } from '@pixmesh/kernel/ids';

/**
 * The lane of a per-resource URL (an endpoint's is its id): account, scheme, host and port (ADR 0013). As a UUIDv5
 * under the account it is as short as any id and equal in every process. A URL that does not parse has a
 * lane of its own; its attempts fail without a connection.
 */
export function laneOf(accountId: string, urlText: string): string {
  const url = URL.parse(urlText);
  return uuidV5(accountId, `lane:${url === null ? urlText : url.origin}`);
}
