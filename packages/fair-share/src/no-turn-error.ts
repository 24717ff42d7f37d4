/** Why work never began: too much of its account waited, it waited for too long, or its caller left. */
export type NoTurnReason = 'full' | 'late' | 'aborted';

/** The work has not begun, and never will: nothing has happened. */
export class NoTurnError extends Error {
  override readonly name = 'NoTurnError';
  readonly reason: NoTurnReason;
  /** How long the oldest of the account waits already: sooner it will hardly be this one's turn. */
  readonly retryAfterMs: number;

  constructor(queue: string, reason: NoTurnReason, retryAfterMs: number) {
    super(`no turn at ${queue}: ${reason}`);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}
