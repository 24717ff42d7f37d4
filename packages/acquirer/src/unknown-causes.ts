import type { NoTurnReason } from '@pixmesh/fair-share/no-turn-error';

import type { Unknown } from './acquirer.ts';

/** The words of `cause` that more than logs read: made and read here alone. Some are stored, none may change. */

const BREAKER_OPEN = 'breaker_open';
const NO_TURN = 'no_turn';
const TOKEN = 'token_';

/** The acquirer is unreachable, or too slow. Whatever else it answered, it is reachable. */
const OUTAGE = /^(token_)?(connection|timeout|status_5[0-9]{2})$/;
const CALLER_GAVE_UP = /^(token_)?aborted$/;
/** No answer came; or the call was not sent, because none had come before or it had no turn. */
const UNREACHABLE = /^(token_)?(connection|timeout|aborted)$|^breaker_open|^no_turn/;

/** Nothing was sent: the acquirer did not answer for a while, and why it did not. */
export function withBreakerOpen(lastCause: string): Unknown {
  return { kind: 'unknown', cause: `${BREAKER_OPEN}:${lastCause}` };
}

/** Nothing was sent: the call waited for its turn in our own queue, and had none in time. */
export function withoutTurn(reason: NoTurnReason): Unknown {
  return { kind: 'unknown', cause: `${NO_TURN}:${reason}` };
}

/** Nothing was sent: no token could be had. */
export function withoutToken(cause: string): Unknown {
  return { kind: 'unknown', cause: `${TOKEN}${cause}` };
}

/** The caller gave up: what a wait has left of its time may be too short for any acquirer. */
export function givenUp({ cause }: Unknown): Unknown {
  return { kind: 'unknown', cause: cause.replace('timeout', 'aborted') };
}

/**
 * Whether a call that ended unknown provably never left this process, so that nothing can come of it. Any other
 * unknown outcome, a refused connection included, may belong to a call that arrived.
 */
export function wasNeverSent(outcome: { kind: string; cause?: string }): boolean {
  const { kind, cause } = outcome;
  if (kind !== 'unknown' || cause === undefined) return false;
  return [BREAKER_OPEN, NO_TURN, TOKEN].some((start) => cause.startsWith(start));
}

export function isOutage(cause: string): boolean {
  return OUTAGE.test(cause);
}

/** Whether the caller gave up before the answer came. */
export function hasCallerGivenUp(cause: string): boolean {
  return CALLER_GAVE_UP.test(cause);
}

export function isUnreachable(cause: string): boolean {
  return UNREACHABLE.test(cause);
}
