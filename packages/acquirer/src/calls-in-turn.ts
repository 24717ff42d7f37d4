import { currentAccount } from '@pixmesh/fair-share/current-account';
import { createFairQueue, type WaitBounds, WAITING_MAX } from '@pixmesh/fair-share/fair-queue';
import { NoTurnError } from '@pixmesh/fair-share/no-turn-error';
import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';

import type { CallOptions, Unknown } from './acquirer.ts';
import { withoutTurn } from './unknown-causes.ts';

/**
 * Calls at once of one process. A provider that takes 3 s has 60 calls of a merchant with 20 creations a second under
 * way, and 250 of one that floods it beside: both find a place, and wait for nobody (ADR 0023). One alone has 512 of
 * them, so that another one finds a place however many calls that has (ADR 0024).
 */
export const CALLS_MAX = 640;
/** How long a call waits for its turn where its caller names no bound: a lease has room for two calls and two waits. */
const WAIT_MS = 750;
/** No caller waits for longer, whatever bound it names. */
const WAIT_MS_MAX = 10_000;

type CallsInTurn = <Result>(
  options: CallOptions | undefined,
  call: () => Promise<Result>,
) => Promise<Result | Unknown>;

/** On whose account a call is made. */
export function accountOf(options: CallOptions | undefined): string {
  return options?.accountId ?? currentAccount();
}

/** Makes each call when it has its turn; one that has none in time ends as one that was never sent. */
export function createCallsInTurn(): CallsInTurn {
  const queue = createFairQueue({
    name: 'acquirer',
    places: CALLS_MAX,
    share: fourTimesFree,
    waitingMax: WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
  });
  return async (options, call) => {
    try {
      return await queue.run(accountOf(options), call, boundsOf(options));
    } catch (error) {
      if (error instanceof NoTurnError) return withoutTurn(error.reason);
      throw error;
    }
  };
}

function boundsOf({ signal, beginBeforeMs }: CallOptions = {}): WaitBounds {
  if (signal || beginBeforeMs !== undefined) return { signal, beginBeforeMs };
  return { beginBeforeMs: performance.now() + WAIT_MS };
}
