import type { NoTurnReason } from '@pixmesh/fair-share/no-turn-error';

const BREAKER_OPEN = 'breaker_open';
const NO_TURN = 'no_turn';

/** Nothing was sent: the acquirer did not answer for a while, and why it did not. */
export function withBreakerOpen(lastCause: string): { kind: 'unknown'; cause: string } {
  return { kind: 'unknown', cause: `${BREAKER_OPEN}:${lastCause}` };
}

/** Nothing was sent: the call waited for its turn in our own queue, and had none in time. */
export function withoutTurn(reason: NoTurnReason): { kind: 'unknown'; cause: string } {
  return { kind: 'unknown', cause: `${NO_TURN}:${reason}` };
}

/** Nothing was sent: no token could be had. */
export function withoutToken(cause: string): { kind: 'unknown'; cause: string } {
  return { kind: 'unknown', cause: `token_${cause}` };
}

/**
 * Whether a call that ended unknown provably never left this process, so that nothing can come of it. Any other
 * unknown outcome, a refused connection included, may belong to a call that arrived.
 */
export function wasNeverSent(outcome: { kind: string; cause?: string }): boolean {
  const { kind, cause } = outcome;
  if (kind !== 'unknown' || cause === undefined) return false;
  return [BREAKER_OPEN, NO_TURN, 'token_'].some((start) => cause.startsWith(start));
}
