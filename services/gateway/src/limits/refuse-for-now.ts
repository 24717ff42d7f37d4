import { NoTurnError, type NoTurnReason } from '@pixmesh/fair-share/no-turn-error';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyReply } from 'fastify';

/** 429 `RATE_LIMITED` (decision 272): nothing has happened, and the same request may be made again. */
export function refuseForNow(
  reply: FastifyReply,
  refusal: { message: string; retryAfterMs: number },
): AppError {
  // Whole seconds (RFC 9110 section 10.2.3), and never so early that the next try is refused again.
  reply.header('retry-after', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))));
  const publicMessage = `${refusal.message} The header Retry-After says when to go on.`;
  return new AppError('RATE_LIMITED', { publicMessage });
}

const NO_TURN: Readonly<Record<Exclude<NoTurnReason, 'aborted'>, string>> = {
  full: 'Too many requests of this account are under way at once.',
  late: 'The request had no turn in time, and nothing was done.',
};

/** Does work that may have no turn (ADR 0023): where too much of its account waits, or it has waited for too long. */
export async function refuseWithoutTurn<T>(
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const noTurn = noTurnOf(error);
    if (noTurn === null || noTurn.reason === 'aborted') throw error;
    const message = NO_TURN[noTurn.reason];
    throw refuseForNow(reply, { message, retryAfterMs: noTurn.retryAfterMs });
  }
}

function noTurnOf(error: unknown): NoTurnError | null {
  if (error instanceof NoTurnError) return error;
  const { cause } = (error ?? {}) as { cause?: unknown };
  return cause instanceof NoTurnError ? cause : null;
}
