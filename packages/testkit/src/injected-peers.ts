import type { OwnerName } from '@pixmesh/contracts/internal/internal-routes';

import { type AskedCall, callByTable } from './test-callers.ts';

const CALLER_HEADER = 'x-test-caller';

/** Callers of a listener without a socket: each says who it is, and is believed. */
export const injectedPeers = {
  nameOf: ({ headers }: { headers: Record<string, string | string[] | undefined> }) => {
    const name = headers[CALLER_HEADER];
    return typeof name === 'string' ? name : null;
  },
};

/** What `inject` is given for a call that is made as the table of internal routes says. */
export function injectedCall(owner: OwnerName, asked: AskedCall) {
  const { method, path, as, headers, body } = callByTable(owner, asked);
  return {
    method,
    url: path,
    headers: { [CALLER_HEADER]: as, 'content-type': 'application/json', ...headers },
    ...(body === undefined
      ? {}
      : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}
