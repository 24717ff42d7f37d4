/** Of a call without an answer: by one process that stops, one that was killed, and one that lives. */
const CUT_TRIES_MAX = 3;
/** Of a call that was never sent, which costs its peer nothing. The pauses between them add up to 1.5 s. */
const UNSENT_TRIES_MAX = 6;
const UNSENT_PAUSE_MS = 50;

/** Undici's words, and the system's, for a connection that ended before the answer did. */
const CUT_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** A call as far as its repetition goes: whether it may be made again although its peer may have worked on it. */
export type RepeatableCall = { method: string; isRepeatable?: boolean };

/**
 * How long a failed call waits until it is made again, by another connection and so perhaps at another process; null
 * where that is not safe, or was done often enough. It is safe where the call was never sent, or may have any number of
 * times the effect of one: each read, and what says so of itself. Any other call that was cut off, or had no answer in
 * its time, has an unknown outcome, and that is its caller's to resolve.
 */
export function repeatAfterMs(
  { method, isRepeatable = method === 'GET' }: RepeatableCall,
  error: unknown,
  tries: number,
): number | null {
  if (neverSent(error)) return tries < UNSENT_TRIES_MAX ? UNSENT_PAUSE_MS * 2 ** (tries - 1) : null;
  const { code, name } = error as Failure;
  const isUnanswered = CUT_CODES.has(code ?? '') || name === 'TimeoutError';
  return isRepeatable && isUnanswered && tries < CUT_TRIES_MAX ? 0 : null;
}

/** A connection that was never there: neither the address nor the handshake came to an end. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
}

type Failure = { code?: string; syscall?: string; name?: string };

function neverSent(error: unknown): boolean {
  if (error instanceof NotConnectedError) return true;
  // A name with several addresses: Node reports each attempt.
  if (error instanceof AggregateError) return error.errors.every(neverSent);
  const { code, syscall } = error as Failure;
  return syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT';
}
